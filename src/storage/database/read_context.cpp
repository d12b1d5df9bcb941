// Reading regions, parts of lists, and blocks of a context.
//
// read_box goes through the blocks of a level by id. It copies the part of the region that no earlier block had, so a
// shared point has the value of the lowest id; places without a block are counted, and the count is returned. A part is
// copied at once if it is contiguous in file and target, otherwise line by line (BoxReader). PieceReader translates
// offsets into chunks, and decodes a whole chunk directly into its target.
#include <algorithm>
#include <cstring>

#include "sidestream/kit/base/fail.hpp"
#include "storage/database/context.hpp"

namespace sidestream::database {

namespace {

/// A block with values of a variable.
struct Found {
  std::int64_t id;
  std::size_t group;
  std::uint32_t block;
  Box points;
};

std::vector<Found> blocks_of(Context& context, std::uint32_t variable, std::int32_t level) {
  const Variable& of = context.metadata().variables[variable];
  std::vector<Found> found;
  for (std::size_t group = 0; group < context.groups().size(); ++group) {
    const std::vector<Block>& blocks = context.blocks(group);
    for (std::size_t n = 0; n < blocks.size(); ++n) {
      if (blocks[n].mesh != of.mesh || blocks[n].level != level) continue;
      found.push_back({blocks[n].id, group, static_cast<std::uint32_t>(n), of.points(blocks[n])});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.id < b.id; });
  return found;
}

/// Copies parts of a piece, chunk by chunk, in whatever lines they are requested.
class PieceReader {
 public:
  PieceReader(Context& context, std::size_t group, const PieceRow& piece)
      : context_(context), group_(group), piece_(piece) {}

  void copy(std::uint64_t offset, std::span<std::byte> out) {
    while (!out.empty()) {
      const std::vector<std::uint64_t>& starts = context_.places(group_, piece_).values;
      const auto behind = std::upper_bound(starts.begin(), starts.end(), offset);
      const auto number = static_cast<std::uint64_t>(behind - starts.begin()) - 1;
      const std::uint64_t begin = behind[-1], size_of_chunk = *behind - begin, inside = offset - begin;
      if (inside == 0 && out.size() >= size_of_chunk) {  // without an intermediate copy
        context_.read_chunk(group_, piece_, number, out.first(size_of_chunk));
        offset += size_of_chunk;
        out = out.subspan(size_of_chunk);
        continue;
      }
      const BytesView values = context_.chunk(group_, piece_, number);
      const std::size_t size = std::min<std::size_t>(out.size(), values.size() - inside);
      std::memcpy(out.data(), values.data() + inside, size);
      offset += size;
      out = out.subspan(size);
    }
  }

 private:
  Context& context_;
  std::size_t group_;
  const PieceRow& piece_;
};

/// Reads `part` of a piece over `points`, line by line in the order of the file.
class BoxReader {
 public:
  BoxReader(PieceReader reader, const Variable& variable, const Box& points, const Target& target)
      : reader_(reader),
        variable_(variable),
        points_(points),
        strides_(packed_strides(points, variable.components, variable.order)),
        target_(target),
        fast_(variable.order == Order::column ? 0 : 2) {}

  void read(const Box& part) {
    const int slow = 2 - fast_;
    const std::size_t element = size_of(variable_.type);
    if (is_one_run(part)) {
      const auto bytes = static_cast<std::size_t>(part.count() * variable_.components) * element;
      return reader_.copy(static_cast<std::uint64_t>(offset(part.lo, points_, strides_)) * element,
                          {address(part.lo, element), bytes});
    }
    line_.resize(static_cast<std::size_t>(part.extent(fast_)) * static_cast<std::size_t>(variable_.components) *
                 element);
    Index3 at = part.lo;
    for (at[slow] = part.lo[slow]; at[slow] < part.hi[slow]; ++at[slow]) {
      for (at[1] = part.lo[1]; at[1] < part.hi[1]; ++at[1]) {
        at[fast_] = part.lo[fast_];
        read_line(at, part.extent(fast_), element);
      }
    }
  }

 private:
  [[nodiscard]] static Index offset(const Index3& at, const Box& box, const std::array<Index, 4>& strides) {
    Index sum = 0;
    for (int a = 0; a < 3; ++a) sum += (at[a] - box.lo[a]) * strides[a];
    return sum;
  }

  [[nodiscard]] std::byte* address(const Index3& at, std::size_t element) const {
    return static_cast<std::byte*>(target_.data) +
           offset(at, target_.box, target_.strides) * static_cast<Index>(element);
  }

  /// True if a part is contiguous in the file, and lies in the same order in the target.
  [[nodiscard]] bool is_one_run(const Box& part) const {
    if (variable_.components > 1 && target_.strides[3] != 1) return false;
    Index expected = variable_.components;
    for (const int axis : {fast_, 1, 2 - fast_}) {
      // Strides along an axis with one index are never used.
      if (part.extent(axis) > 1 && (strides_[axis] != expected || target_.strides[axis] != expected)) return false;
      expected *= part.extent(axis);
    }
    return true;
  }

  void read_line(const Index3& at, Index count, std::size_t element) {
    const auto from = static_cast<std::uint64_t>(offset(at, points_, strides_)) * element;
    auto* to = address(at, element);
    const Index components = variable_.components, step = target_.strides[fast_], over = target_.strides[3];
    if (step == components && (components == 1 || over == 1)) return reader_.copy(from, {to, line_.size()});
    reader_.copy(from, line_);
    const std::byte* value = line_.data();
    for (Index n = 0; n < count; ++n) {
      for (Index c = 0; c < components; ++c, value += element) {
        std::memcpy(to + (n * step + c * over) * static_cast<Index>(element), value, element);
      }
    }
  }

  PieceReader reader_;
  const Variable& variable_;
  Box points_;
  std::array<Index, 4> strides_;
  Target target_;
  int fast_;
  Bytes line_;
};

}  // namespace

std::int64_t read_box(Context& context, std::uint32_t variable, std::int32_t level, const Box& region,
                      const Target& target) {
  const Variable& of = context.metadata().variables.at(variable);
  std::vector<Box> missing;
  if (!region.empty()) missing.push_back(region);
  for (const Found& found : blocks_of(context, variable, level)) {
    if (missing.empty()) break;
    const Box common = intersection(found.points, region);
    if (common.empty()) continue;
    const PieceRow* piece = context.find(found.group, variable, found.block);
    if (piece == nullptr) continue;
    BoxReader reader(PieceReader(context, found.group, *piece), of, found.points, target);
    for (const Box& box : missing) {
      const Box part = intersection(box, common);
      if (!part.empty()) reader.read(part);
    }
    missing = difference(missing, common);
  }
  std::int64_t count = 0;
  for (const Box& box : missing) count += box.count();
  return count;
}

void read_list(Context& context, std::uint32_t variable, std::int64_t first, std::int64_t count, std::byte* out) {
  const Variable& of = context.metadata().variables.at(variable);
  const std::size_t element = size_of(of.type) * static_cast<std::size_t>(of.components);
  std::vector<std::pair<Found, const PieceRow*>> pieces;
  std::int64_t length = 0;
  for (const Found& found : blocks_of(context, variable, 0)) {
    const PieceRow* piece = context.find(found.group, variable, found.block);
    if (piece == nullptr) continue;
    pieces.emplace_back(found, piece);
    length += found.points.extent(0);
  }
  if (first > length || count > length - first) {
    fail(Code::file, "{} entries of '{}' from {} on were asked for, but its blocks have {} in all", count, of.name,
         first, length);
  }
  std::int64_t begin = 0;
  for (const auto& [found, piece] : pieces) {
    const std::int64_t end = begin + found.points.extent(0);
    const std::int64_t from = std::max(first, begin), to = std::min(first + count, end);
    if (from < to) {
      PieceReader(context, found.group, *piece)
          .copy(
              static_cast<std::uint64_t>(from - begin) * element,
              {out + static_cast<std::size_t>(from - first) * element, static_cast<std::size_t>(to - from) * element});
    }
    begin = end;
  }
}

void read_part(Context& context, std::size_t group, const PieceRow& piece, std::uint64_t offset,
               std::span<std::byte> out) {
  PieceReader(context, group, piece).copy(offset, out);
}

void read_piece(Context& context, std::size_t group, const PieceRow& piece, std::span<std::byte> out) {
  PieceReader(context, group, piece).copy(0, out);
}

void read_levels(Context& context, std::size_t group, const PieceRow& piece, std::int32_t deepest,
                 std::span<std::byte> out) {
  const Variable& of = context.metadata().variables.at(piece.variable);
  const std::vector<Index>& starts = context.tree(group, piece.block).starts();
  const auto level =
      static_cast<std::size_t>(std::clamp<std::int64_t>(deepest + 1, 0, static_cast<std::int64_t>(starts.size()) - 1));
  const auto cells = static_cast<std::uint64_t>(starts[level]);
  const std::uint64_t bytes = cells * size_of(of.type) * static_cast<std::uint64_t>(of.components);
  if (bytes != out.size()) {
    fail(Code::usage, "the levels of '{}' down to {} have {} bytes of values, but room for {} was given", of.name,
         deepest, bytes, out.size());
  }
  PieceReader(context, group, piece).copy(0, out);
}

}  // namespace sidestream::database
