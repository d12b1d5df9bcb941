// The form of a block: a ThinnedHead, a byte for each cell if some do not count, and the values of its boxes in order.
// Writer and reader walk over the same boxes, which follow from the block's cells, the factor and the flags.
#include "visualisation/relevance/thinned_block.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

namespace {

/// Calls `f(const Box&)` for the groups of a block's cells whose cells all count, and for each other cell that counts.
/// `counts` may be empty: all cells count.
template <class F>
void for_each_group(const Box& cells, const Index3& steps, std::span<const char> counts, F&& f) {
  BlockValues numbering;
  numbering.cells = cells;
  const auto is_counted = [&](const Index3& p) { return counts.empty() || counts[numbering.at(p)] != 0; };
  Box groups{{0, 0, 0}, {0, 0, 0}};
  for (std::size_t a = 0; a < 3; ++a) groups.hi[a] = (cells.extent(static_cast<int>(a)) + steps[a] - 1) / steps[a];
  for_each_cell(groups, [&](const Index3& g) {
    Box group;
    for (std::size_t a = 0; a < 3; ++a) {
      group.lo[a] = cells.lo[a] + g[a] * steps[a];
      group.hi[a] = std::min(group.lo[a] + steps[a], cells.hi[a]);
    }
    bool complete = true;
    if (!counts.empty()) for_each_cell(group, [&](const Index3& p) { complete = complete && is_counted(p); });
    if (complete) return f(group);
    for_each_cell(group, [&](const Index3& p) {
      if (is_counted(p)) f(Box{p, {p[0] + 1, p[1] + 1, p[2] + 1}});
    });
  });
}

Index3 steps_of(const Mesh& mesh, Index factor) {
  Index3 steps{1, 1, 1};
  for (int a = 0; a < mesh.dimensions; ++a) steps[static_cast<std::size_t>(a)] = factor;
  return steps;
}

/// Means of groups of cells.
class GroupMeans {
 public:
  GroupMeans(const BlockValues& block, const Mesh& mesh) : block_(block), weighs_(mesh.kind() != MeshKind::uniform) {
    for (int a = 0; weighs_ && a < 3; ++a) {
      const auto axis = static_cast<std::size_t>(a);
      for (Index i = block.cells.lo[axis]; i < block.cells.hi[axis]; ++i) {
        const double width = a < mesh.dimensions ? mesh.axes()->node(a, i + 1) - mesh.axes()->node(a, i) : 1;
        widths_[axis].push_back(std::abs(width));
      }
    }
  }

  /// As the first value and the mean distance from it, so that equal values have exactly their value.
  [[nodiscard]] double of(const Box& group) const {
    const double first = block_.values[block_.at(group.lo)];
    double sum = 0, weights = 0;
    for_each_cell(group, [&](const Index3& p) {
      const double weight = weighs_ ? weight_of(p) : 1;
      sum += weight * (block_.values[block_.at(p)] - first);
      weights += weight;
    });
    return first + sum / weights;
  }

 private:
  [[nodiscard]] double weight_of(const Index3& p) const {
    double weight = 1;
    for (std::size_t a = 0; a < 3; ++a) weight *= widths_[a][static_cast<std::size_t>(p[a] - block_.cells.lo[a])];
    return weight;
  }

  const BlockValues& block_;
  bool weighs_;
  std::array<std::vector<double>, 3> widths_;
};

/// Appends a value in a type and returns what a reader gets.
double put_value(double value, Type type, Bytes& out) {
  return with_type(type, [&](auto zero) {
    const auto narrow = static_cast<decltype(zero)>(value);
    const BytesView bytes = bytes_of(narrow);
    out.insert(out.end(), bytes.begin(), bytes.end());
    return static_cast<double>(narrow);
  });
}

}  // namespace

Type moving_type(Type of_variable, bool thinned) noexcept {
  const bool small_integer = of_variable < Type::float32 && size_of(of_variable) < sizeof(double);
  return of_variable == Type::float32 || (small_integer && !thinned) ? of_variable : Type::float64;
}

void put_block(const BlockValues& block, Index factor, const Mesh& mesh, Type of_variable, Bytes& out) {
  ThinnedHead head;
  head.id = block.id;
  head.cells = block.cells;
  head.counted = block.counted;
  head.thinned = factor > 1 ? 1 : 0;
  head.flagged = block.whole() ? 0 : 1;
  const std::size_t begin = out.size();
  out.resize(begin + sizeof head);
  const std::span<const char> counts = block.whole() ? std::span<const char>() : std::span<const char>(block.counts);
  const BytesView flags = std::as_bytes(counts);
  out.insert(out.end(), flags.begin(), flags.end());
  const Type type = moving_type(of_variable, head.thinned != 0);
  const GroupMeans means(block, mesh);
  for_each_group(block.cells, steps_of(mesh, factor), counts, [&](const Box& group) {
    ++head.boxes;
    if (group.count() == 1) {
      put_value(block.values[block.at(group.lo)], type, out);
      return;
    }
    const double mean = put_value(means.of(group), type, out);
    for_each_cell(group, [&](const Index3& p) {
      const double error = std::abs(block.values[block.at(p)] - mean);
      head.squares += error * error;
      head.largest = std::max(head.largest, error);
    });
  });
  head.bytes = static_cast<std::int64_t>(out.size() - begin - sizeof head);
  std::memcpy(out.data() + begin, &head, sizeof head);
}

std::vector<std::pair<ThinnedHead, std::size_t>> heads_in(BytesView bytes) {
  std::vector<std::pair<ThinnedHead, std::size_t>> heads;
  for (std::size_t at = 0; at < bytes.size();) {
    if (bytes.size() - at < sizeof(ThinnedHead)) fail(Code::internal, "a partial ends within the head of a block");
    const auto head = record_of<ThinnedHead>(bytes.subspan(at, sizeof(ThinnedHead)));
    const std::size_t left = bytes.size() - at - sizeof(ThinnedHead);
    if (head.bytes < 0 || static_cast<std::size_t>(head.bytes) > left) {
      fail(Code::internal, "block {} has {} bytes in a partial, of which {} are left", head.id, head.bytes, left);
    }
    heads.emplace_back(head, at);
    at += sizeof(ThinnedHead) + static_cast<std::size_t>(head.bytes);
  }
  return heads;
}

ThinnedCells thinned_cells_in(BytesView block, Index factor, const Mesh& mesh, Type of_variable) {
  ByteReader in(block);
  ThinnedCells cells;
  in.get(cells.head);
  std::vector<char> counts;
  if (cells.head.flagged != 0) in.get_all(counts, static_cast<std::size_t>(cells.head.cells.count()));
  const Index3 steps = steps_of(mesh, cells.head.thinned != 0 ? factor : 1);
  for_each_group(cells.head.cells, steps, counts, [&](const Box& group) { cells.boxes.push_back(group); });
  with_type(moving_type(of_variable, cells.head.thinned != 0), [&](auto zero) {
    std::vector<decltype(zero)> values;
    in.get_all(values, cells.boxes.size());
    cells.values.assign(values.begin(), values.end());
  });
  return cells;
}

}  // namespace sidestream
