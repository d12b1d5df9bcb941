#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "sidestream/kit/base/fail.hpp"
#include "storage/codecs/codecs.hpp"
#include "storage/codecs/zfp_array.hpp"

namespace sidestream {

namespace {

// Runs of a chunk. A chunk is a part of an array, cut anywhere; its elements become runs, each as large as possible:
//
//   part of a point | part of a line | whole lines | whole layers | whole lines | part of a line | part of a point
//
// so that zfp sees layers in three dimensions. Each component of a run is packed as a separate array. The chunk begins
// with a mark; a run is the number of its components (u64), followed by that many arrays with headers. A chunk with an
// unknown place is packed as one array of one dimension, with a header and without the mark.
constexpr std::array<char, 8> mark{'z', 'f', 'p', 'r', 'u', 'n', 's', '1'};

struct Run {
  ZfpExtents extents{1, 1, 1};
  std::size_t components = 1;

  [[nodiscard]] std::size_t elements() const { return extents[0] * extents[1] * extents[2] * components; }
};

/// The largest run that begins at element `first` of the array, with at most `left` elements.
Run run_at(const ChunkPlace& place, std::uint64_t first, std::size_t left) {
  const std::uint64_t inside = first % place.components;
  if (inside != 0) return {{std::min<std::size_t>(place.components - inside, left), 1, 1}};
  const std::uint64_t point = first / place.components, points = left / place.components;
  if (points == 0) return {{left, 1, 1}};
  const auto [nx, ny, nz] = place.points;
  const std::uint64_t x = point % nx, y = point / nx % ny;
  Run run{{1, 1, 1}, place.components};
  if (x != 0 || points < nx) {
    run.extents[0] = std::min(nx - x, points);
  } else if (y != 0 || points < nx * ny) {
    run.extents = {nx, std::min(ny - y, points / nx), 1};
  } else {
    run.extents = {nx, ny, points / (nx * ny)};
  }
  return run;
}

/// Copies one component between a contiguous array and a run, in which components are interleaved.
void copy_component(const std::byte* from, std::size_t from_step, std::byte* to, std::size_t to_step, std::size_t count,
                    std::size_t width) {
  for (std::size_t n = 0; n < count; ++n) std::memcpy(to + n * to_step, from + n * from_step, width);
}

void append(Bytes& out, BytesView bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

class Zfp final : public Codec {
 public:
  explicit Zfp(double bound) : bound_(bound) {}
  std::string name() const override { return "zfp"; }
  bool lossless() const override { return false; }
  bool packs() const override { return true; }
  bool takes(Type type) const override { return type == Type::float32 || type == Type::float64; }

  bool encode(BytesView in, Type type, Bytes& out) const override {
    std::optional<Bytes> packed = zfp_packed(in, type, {in.size() / size_of(type), 1, 1}, bound_, true);
    if (packed) out = std::move(*packed);
    return packed.has_value();
  }

  bool encode_at(BytesView in, Type type, const ChunkPlace& place, Bytes& out) const override {
    if (place.points[0] == 0 || in.empty()) return encode(in, type, out);
    const std::size_t width = size_of(type);
    const BytesView begin = std::as_bytes(std::span(mark));
    out.assign(begin.begin(), begin.end());
    for (std::size_t done = 0; done < in.size() / width;) {
      const Run run = run_at(place, place.first + done, in.size() / width - done);
      if (!put_run(in.subspan(done * width, run.elements() * width), type, run, out)) return false;
      done += run.elements();
    }
    return true;
  }

  void decode(BytesView in, Type type, std::span<std::byte> out) const override {
    const bool has_runs = in.size() >= mark.size() && std::memcmp(in.data(), mark.data(), mark.size()) == 0;
    if (has_runs) return decode_runs(in.subspan(mark.size()), type, out);
    if (out.empty() || zfp_unpacked(in, type, bound_, out).values != out.size() / size_of(type)) fail_damaged(out);
  }

 private:
  [[noreturn]] static void fail_damaged(std::span<const std::byte> out) {
    fail(Code::file, "bytes that zfp cannot have made of {}; they are damaged", out.size());
  }

  bool put_run(BytesView in, Type type, const Run& run, Bytes& out) const {
    const std::size_t width = size_of(type), count = run.elements() / run.components;
    const std::uint64_t components = run.components;
    append(out, std::as_bytes(std::span(&components, 1)));
    Bytes own(count * width);
    for (std::size_t c = 0; c < run.components; ++c) {
      copy_component(in.data() + c * width, run.components * width, own.data(), width, count, width);
      const std::optional<Bytes> packed = zfp_packed(own, type, run.extents, bound_, true);
      if (!packed) return false;
      append(out, *packed);
    }
    return true;
  }

  void decode_runs(BytesView in, Type type, std::span<std::byte> out) const {
    const std::size_t width = size_of(type);
    Bytes own;
    while (!out.empty()) {
      std::uint64_t components = 0;
      if (in.size() < sizeof components) fail_damaged(out);
      std::memcpy(&components, in.data(), sizeof components);
      in = in.subspan(sizeof components);
      if (components == 0 || components > out.size() / width) fail_damaged(out);
      own.resize(out.size() / width / components * width);
      std::size_t count = 0;
      for (std::size_t c = 0; c < components; ++c) {
        const ZfpUnpacked unpacked = zfp_unpacked(in, type, bound_, own);
        if (c > 0 && unpacked.values != count) fail_damaged(out);
        count = unpacked.values;
        copy_component(own.data(), width, out.data() + c * width, components * width, count, width);
        in = in.subspan(unpacked.bytes);
      }
      out = out.subspan(count * components * width);
    }
    if (!in.empty()) fail_damaged(out);
  }

  double bound_;
};

}  // namespace

std::optional<CodecKind> zfp_codec() {
  CodecKind kind;
  kind.name = "zfp";
  kind.argument = "BOUND";
  kind.text =
      "packs reals with an error of at most BOUND (`zfp:1e-3`), checked for each value; chunks with NaN or "
      "infinities stay unchanged. Only if the build has the library zfp.";
  kind.create = [](const std::string& argument) {
    double bound = 0;
    const char* const end = argument.data() + argument.size();
    const auto [stop, error] = std::from_chars(argument.data(), end, bound);
    if (error != std::errc() || stop != end || !std::isfinite(bound) || bound <= 0) {
      fail(Code::configuration,
           "found 'zfp:{}', expected the largest error that is allowed behind the colon, a number above 0, as in "
           "'zfp:1e-3'; write such a number",
           argument);
    }
    return std::make_shared<Zfp>(bound);
  };
  return kind;
}

}  // namespace sidestream
