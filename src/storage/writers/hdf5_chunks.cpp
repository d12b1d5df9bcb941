// Chunks of HDF5 arrays that are packed here instead of by filters of the HDF5 library.
//
// 1. plan_chunks: extents of chunks and their filters. zfp gets chunks with about equal sides, one component each;
//    others get slabs.
// 2. write_packed: for each chunk packs its values, pads it at the array's upper ends, runs the filters, and stores it
//    with the bits of filters that were skipped because they saved nothing.
// Readers decode with the filters of those numbers (HDF Group's registry).
#include "storage/writers/hdf5_chunks.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "sidestream/kit/data/box_values.hpp"
#include "storage/codecs/codecs.hpp"
#include "storage/codecs/zfp_array.hpp"
#include "storage/hdf5/hdf5_layout.hpp"

namespace sidestream {

namespace {

constexpr unsigned filter_zfp = 32013, filter_zstd = 32015;  ///< registered with the HDF Group

/// The axes from the fastest to the slowest.
std::array<std::size_t, 3> axes_of(Order order) {
  return order == Order::column ? std::array<std::size_t, 3>{0, 1, 2} : std::array<std::size_t, 3>{2, 1, 0};
}

/// The extents along the axes from the fastest to the slowest.
ZfpExtents fastest_first(const Index3& extents, Order order) {
  const auto axes = axes_of(order);
  return {static_cast<std::size_t>(extents[axes[0]]), static_cast<std::size_t>(extents[axes[1]]),
          static_cast<std::size_t>(extents[axes[2]])};
}

/// Extents of chunks of at most `values` numbers, about equal along all axes, since zfp uses neighbours along all of
/// them.
Index3 even_extents(const Box& box, Index values, Order order) {
  constexpr Index line_of_plane = 512, line_of_body = 64;
  int axes = 0;
  for (int a = 0; a < 3; ++a) axes += box.extent(a) > 1 ? 1 : 0;
  const Index line = axes < 2 ? values : axes == 2 ? line_of_plane : line_of_body;
  Index3 extents{1, 1, 1};
  for (const std::size_t axis : axes_of(order)) {
    extents[axis] = std::clamp<Index>(std::min(values, line), 1, box.extent(static_cast<int>(axis)));
    values = std::max<Index>(1, values / extents[axis]);
  }
  return extents;
}

Index3 extents_of_part(const Box& part) { return {part.extent(0), part.extent(1), part.extent(2)}; }

/// Pads chunks at the upper ends of the array with copies of their last values.
void fill_up(BytesView part, const ZfpExtents& extents, std::size_t width, const ZfpExtents& whole, Bytes& chunk) {
  chunk.resize(whole[0] * whole[1] * whole[2] * width);
  std::byte* to = chunk.data();
  for (std::size_t z = 0; z < whole[2]; ++z) {
    for (std::size_t y = 0; y < whole[1]; ++y) {
      const std::size_t line =
          (std::min(z, extents[2] - 1) * extents[1] + std::min(y, extents[1] - 1)) * extents[0] * width;
      std::memcpy(to, part.data() + line, extents[0] * width);
      to += extents[0] * width;
      for (std::size_t x = extents[0]; x < whole[0]; ++x, to += width) std::memcpy(to, to - width, width);
    }
  }
}

/// Takes every n-th element, from `first` on.
void take_component(BytesView values, std::size_t width, std::size_t first, std::size_t n, Bytes& out) {
  out.resize(values.size() / n);
  for (std::size_t e = 0; e < out.size() / width; ++e) {
    std::memcpy(out.data() + e * width, values.data() + (e * n + first) * width, width);
  }
}

/// Packs the values of one chunk at a time.
class ChunkPacker {
 public:
  ChunkPacker(const StoredForm& form, const ChunkPlan& plan, const ZfpExtents& whole)
      : form_(form), plan_(plan), whole_(whole), shuffle_(byte_shuffle_codec().create({})) {
    const hdf5::PlugInFilter& filter = plan.layout.packed;
    if (filter.number == filter_zstd) zstd_ = zstd_of_level(static_cast<int>(filter.parameters.front()));
  }

  /// Packs a chunk. Returns the filters that were skipped, as bits.
  std::uint32_t pack(BytesView part, const ZfpExtents& extents, Bytes& out) {
    fill_up(part, extents, size_of(form_.type) * static_cast<std::size_t>(plan_.components), whole_, chunk_);
    std::uint32_t skipped = 0;
    if (zstd_) {
      static_cast<void>(shuffle_->encode(chunk_, form_.type, shuffled_));
      static_cast<void>(zstd_->encode(shuffled_, form_.type, out));
    } else if (std::optional<Bytes> packed = zfp_packed(chunk_, form_.type, whole_, form_.precision.bound, false)) {
      out = std::move(*packed);
    } else {
      out = chunk_;
      skipped = 1;
    }
    if (plan_.layout.checksum) {
      const std::uint32_t sum = hdf5::fletcher32(out);
      for (int byte = 0; byte < 4; ++byte) out.push_back(static_cast<std::byte>(sum >> (8 * byte)));
    }
    return skipped;
  }

 private:
  const StoredForm& form_;
  const ChunkPlan& plan_;
  ZfpExtents whole_;
  std::shared_ptr<const Codec> shuffle_, zstd_;
  Bytes chunk_, shuffled_;
};

/// Calls f(part) for the chunks of a box.
template <class F>
void for_each_chunk(const Box& box, const Index3& step, F&& f) {
  Box part;
  const auto cut = [&](int a, Index from) {
    part.lo[a] = from;
    part.hi[a] = std::min(from + step[a], box.hi[a]);
  };
  for (Index k = box.lo[2]; k < box.hi[2]; k += step[2]) {
    cut(2, k);
    for (Index j = box.lo[1]; j < box.hi[1]; j += step[1]) {
      cut(1, j);
      for (Index i = box.lo[0]; i < box.hi[0]; i += step[0]) {
        cut(0, i);
        f(part);
      }
    }
  }
}

}  // namespace

ChunkPlan plan_chunks(const Variable& variable, const StoredForm& form, int dimensions, const Box& box,
                      const Compression& compression, bool checksum, std::uint64_t chunk_bytes) {
  ChunkPlan plan;
  const bool zfp = form.precision.kind == Precision::Kind::zfp;
  if (!compression.used() && !checksum && !zfp) return plan;
  const std::uint64_t width = size_of(form.type);
  plan.components = zfp ? 1 : variable.components;
  plan.points =
      zfp ? even_extents(box, static_cast<Index>(chunk_bytes / width), variable.order)
          : slab_extents(box, width * static_cast<std::uint64_t>(variable.components), chunk_bytes, variable.order);
  plan.layout.chunk = extents_of(variable, dimensions, plan.points);
  plan.layout.checksum = checksum;
  if (zfp) {
    if (variable.components > 1) plan.layout.chunk.back() = 1;
    plan.layout.packed = {filter_zfp, {zfp_filter_version()}};
    const auto header = zfp_header(form.type, fastest_first(plan.points, variable.order), form.precision.bound);
    plan.layout.packed.parameters.insert(plan.layout.packed.parameters.end(), header.begin(), header.end());
    return plan;
  }
  plan.layout.shuffle = compression.used();
  if (compression.by == Packer::zlib) plan.layout.deflate = compression.level;
  if (compression.by == Packer::zstd) {
    plan.layout.packed = {filter_zstd, {static_cast<unsigned>(compression.level)}};
  }
  return plan;
}

void write_packed(hdf5::Dataset& dataset, const Variable& variable, const StoredForm& form, int dimensions,
                  const ArrayView& array, const Box& box, const ChunkPlan& plan) {
  ChunkPacker packer(form, plan, fastest_first(plan.points, variable.order));
  const auto all = static_cast<std::size_t>(variable.components);
  Bytes published, made, own, out;
  for_each_chunk(box, plan.points, [&](const Box& part) {
    published.resize(packed_bytes(part, variable.components, variable.type));
    pack(array, part, variable.order, published);
    const BytesView values = form.apply(published, made);
    hdf5::Extents start = part_of(variable, dimensions, part, box).start;
    const ZfpExtents extents = fastest_first(extents_of_part(part), variable.order);
    if (static_cast<std::size_t>(plan.components) == all) {
      const std::uint32_t skipped = packer.pack(values, extents, out);
      return dataset.write_chunk(start, out, skipped);
    }
    for (std::size_t c = 0; c < all; ++c) {
      take_component(values, size_of(form.type), c, all, own);
      const std::uint32_t skipped = packer.pack(own, extents, out);
      start.back() = c;
      dataset.write_chunk(start, out, skipped);
    }
  });
}

}  // namespace sidestream
