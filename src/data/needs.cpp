// The blocks that a part of a selection needs.
//
// - A plane, a box, a level: decided by the geometry of each block.
// - Values on one level: a block needs the union of its own range and, if points are not nodes, the ranges of the first
//   layers of its upper neighbours (BlockRange::lowest), since the cells in between belong to the lower block.
// - Values on several levels: the union of the ranges of the block and of all blocks that touch it. If only cells that
//   count matter, the servers have measured the ranges of just these cells (CountedRange).
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "data/levels.hpp"
#include "sidestream/data/catalogue.hpp"
#include "sidestream/kit/data/block_index.hpp"

namespace sidestream {

namespace {

/// The interval of a block's span on an axis: from its first point to the first point beyond it, or to the faces of the
/// mesh.
std::array<double, 2> span_on(const Mesh& mesh, const Axes& axes, Centering centering, const Box& cells, int axis) {
  const bool first = cells.lo[axis] <= mesh.cells.lo[axis], last = cells.hi[axis] >= mesh.cells.hi[axis];
  const double lower = first ? axes.node(axis, mesh.cells.lo[axis]) : axes.position(centering, axis, cells.lo[axis]);
  const double upper = last ? axes.node(axis, mesh.cells.hi[axis]) : axes.position(centering, axis, cells.hi[axis]);
  return {lower, upper};
}

bool meets(const Mesh& mesh, const Axes& axes, Centering centering, const Box& cells, const PlaneCut& plane) {
  double low = 0, high = 0;
  for (int a = 0; a < 3; ++a) {
    const auto n = static_cast<std::size_t>(a);
    const auto [lower, upper] = span_on(mesh, axes, centering, cells, a);
    const double p = plane.normal[n] * (lower - plane.origin[n]), q = plane.normal[n] * (upper - plane.origin[n]);
    low += std::min(p, q);
    high += std::max(p, q);
  }
  return low <= 0 && high >= 0;
}

/// True if a plane meets a region that may be infinite.
bool meets(const Bounds& bounds, const PlaneCut& plane) {
  double low = 0, high = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    if (plane.normal[a] == 0) continue;  // not 0 times infinity
    const double p = plane.normal[a] * (bounds.low[a] - plane.origin[a]);
    const double q = plane.normal[a] * (bounds.high[a] - plane.origin[a]);
    low += std::min(p, q);
    high += std::max(p, q);
  }
  return low <= 0 && high >= 0;
}

/// The range of a neighbour's points in the layer just beyond a block's upper sides. If the neighbour is wider than the
/// block, its points next to the block are included.
const Range& facing(const Block& block, const Block& neighbour, const BlockRange& range) {
  std::size_t mask = 0;
  for (int a = 0; a < 3; ++a) {
    if (neighbour.cells.lo[a] == block.cells.hi[a]) mask |= std::size_t{1} << a;
  }
  return mask == 0 ? range.all : range.lowest[mask - 1];
}

bool is_of(const CountedRange& range, const RangeRequest& request) {
  return RangeRequest{range.variable, range.component} == request;
}

}  // namespace

Needs::Needs(const Metadata& metadata, std::span<const Block> blocks, std::span<const BlockRange> ranges,
             std::optional<std::span<const CountedRange>> counted)
    : metadata_(metadata), blocks_(blocks), ranges_(ranges), counted_(counted) {}

std::vector<const BlockRange*> Needs::ranges_of(const RangeRequest& request) const {
  std::vector<std::pair<std::int64_t, const BlockRange*>> by_id;
  for (const BlockRange& range : ranges_) {
    if (range.variable == request.variable && range.component == request.component) {
      by_id.emplace_back(range.block, &range);
    }
  }
  const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::is_sorted(by_id.begin(), by_id.end(), before)) std::stable_sort(by_id.begin(), by_id.end(), before);
  const std::int32_t mesh = metadata_.variables.at(static_cast<std::size_t>(request.variable)).mesh;
  std::vector<const BlockRange*> result(blocks_.size(), nullptr);
  auto next = by_id.begin();
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b].mesh != mesh) continue;
    // Blocks and ranges mostly come in the same order.
    if (next == by_id.end() || next->first != blocks_[b].id) {
      next = std::lower_bound(by_id.begin(), by_id.end(),
                              std::pair(blocks_[b].id, static_cast<const BlockRange*>(nullptr)), before);
    }
    if (next != by_id.end() && next->first == blocks_[b].id) result[b] = (next++)->second;
  }
  return result;
}

std::vector<bool> Needs::cut(const Variable& selected, const PlaneCut& plane) const {
  const Variable& variable = plane.of < 0 ? selected : metadata_.variables.at(static_cast<std::size_t>(plane.of));
  const Mesh& mesh = metadata_.mesh_of(variable);
  const Axes* axes = mesh.geometry ? mesh.geometry->axes() : nullptr;
  std::vector<bool> needed(blocks_.size(), false);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b].mesh != mesh.id || blocks_[b].empty()) continue;
    if (!axes) {
      needed[b] = meets(bounds_of(mesh, blocks_[b]), plane);
    } else if (blocks_[b].level > 0) {
      needed[b] = meets(mesh, *axes, Centering::node, covering(mesh, blocks_[b], 1), plane);
    } else {
      needed[b] = meets(mesh, *axes, variable.centering, blocks_[b].cells, plane);
    }
  }
  return needed;
}

/// Ranges of all points, or of all counting points, of each block. Empty if not delivered.
std::vector<Range> Needs::own_ranges(const Selected& selected, const RangeRequest& request) const {
  std::vector<Range> own(blocks_.size());
  const std::vector<const BlockRange*> ranges = ranges_of(request);
  for (std::size_t b = 0; b < own.size(); ++b) {
    if (ranges[b]) own[b] = ranges[b]->all;
  }
  if (selected.covered || !counted_) return own;
  std::unordered_map<std::int64_t, Range> counted;
  for (const CountedRange& range : *counted_) {
    if (range.block == range.beside && is_of(range, request)) counted.emplace(range.block, range.range);
  }
  for (std::size_t b = 0; b < own.size() && !counted.empty(); ++b) {
    const auto found = ranges[b] ? counted.find(blocks_[b].id) : counted.end();
    if (found != counted.end()) own[b] = found->second;
  }
  return own;
}

/// Ranges of the values between which a surface through a block's cells may lie. On patches they are exact: they cover
/// cells of the block and cells that touch these. So a block that only touches others by covered cells is not needed.
std::vector<Range> Needs::ranges_on_levels(const Selected& selected, const RangeRequest& request) const {
  const Mesh& mesh = metadata_.mesh_of(metadata_.variables.at(static_cast<std::size_t>(request.variable)));
  const std::vector<const BlockRange*> ranges = ranges_of(request);
  if (selected.covered || !counted_) return ranges_with_touching(mesh, blocks_, ranges);
  std::unordered_map<std::int64_t, Range> of_block, beside;
  for (const CountedRange& range : *counted_) {
    if (!is_of(range, request)) continue;
    if (range.block == range.beside) {
      of_block.emplace(range.block, range.range);
    } else {
      beside[range.beside].add(range.range);
    }
  }
  std::vector<std::optional<Range>> own(blocks_.size());
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b].mesh != mesh.id) continue;
    const auto found = of_block.find(blocks_[b].id);
    if (found != of_block.end()) {
      own[b] = found->second;
    } else if (ranges[b]) {
      own[b] = ranges[b]->all;
    }
  }
  if (mesh.kind() == MeshKind::octree) return ranges_of_touching_trees(blocks_, own);
  std::vector<Range> all(blocks_.size());
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    // A block that finer blocks cover completely has no surface, whatever its neighbours have.
    if (!own[b] || own[b]->empty()) continue;
    all[b] = *own[b];
    const auto found = beside.find(blocks_[b].id);
    if (found != beside.end()) all[b].add(found->second);
  }
  return all;
}

std::vector<bool> Needs::bracketed(const Selected& selected) const {
  const ValuesBracketed& part = selected.part.values;
  RangeRequest request = part.of;
  if (request.variable < 0) request.variable = selected.variable;
  const Variable& of = metadata_.variables.at(static_cast<std::size_t>(request.variable));
  const auto any = [&](const Range& range) {
    return std::any_of(part.values.begin(), part.values.end(), [&](double v) { return range.brackets(v); }) ||
           std::any_of(part.intervals.begin(), part.intervals.end(),
                       [&](const auto& interval) { return range.meets(interval[0], interval[1]); });
  };
  std::vector<bool> needed(blocks_.size(), false);
  const Mesh& mesh = metadata_.mesh_of(of);
  if (meets_other_levels(mesh)) {
    const std::vector<Range> all = ranges_on_levels(selected, request);
    for (std::size_t b = 0; b < blocks_.size(); ++b) needed[b] = !blocks_[b].empty() && any(all[b]);
    return needed;
  }
  const std::vector<const BlockRange*> ranges = ranges_of(request);
  // Where points are not nodes, a block's span extends to the first points of the next block along the axis.
  const bool between = of.centering != Centering::node;
  const BlockIndex index = between ? BlockIndex(blocks_) : BlockIndex();
  std::vector<std::int64_t> near;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const Block& block = blocks_[b];
    if (!ranges[b] || block.empty()) continue;
    Range range = ranges[b]->all;
    if (between && !block.is_list() && !any(range)) {
      Box reach = block.cells;
      for (int a = 0; a < 3; ++a) reach.hi[a] += at_nodes(of.centering, a) ? 0 : 1;
      index.overlapping(block.mesh, block.level, reach, near);
      for (const std::int64_t other : near) {
        const auto n = static_cast<std::size_t>(other);
        if (n == b || !ranges[n]) continue;
        const Range& beyond = facing(block, blocks_[n], *ranges[n]);
        if (!beyond.empty()) range.add(beyond);
      }
    }
    needed[b] = any(range);
  }
  return needed;
}

std::vector<bool> Needs::of(const Selected& selected) const {
  const Variable& variable = metadata_.variables.at(static_cast<std::size_t>(selected.variable));
  const Mesh& mesh = metadata_.mesh_of(variable);
  const auto where = [&](auto&& wanted) {
    std::vector<bool> needed(blocks_.size(), false);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      needed[b] = blocks_[b].mesh == mesh.id && !blocks_[b].empty() && wanted(blocks_[b], b);
    }
    return needed;
  };
  switch (selected.part.kind) {
    case Part::Kind::plane:
      return cut(variable, selected.part.plane);
    case Part::Kind::values:
      return bracketed(selected);
    case Part::Kind::box:
      return where([&](const Block& block, std::size_t) {
        return block.is_list() || !intersection(block.cells, selected.part.box.cells).empty();
      });
    case Part::Kind::level:
      // A block of a tree has cells of all levels.
      return where([&](const Block& block, std::size_t) {
        return mesh.kind() == MeshKind::octree || block.level == selected.part.level.level;
      });
    case Part::Kind::predicate:
      break;
    case Part::Kind::all:
      return where([](const Block&, std::size_t) { return true; });
  }
  const BlockPredicate& predicate = selected.part.predicate;
  const bool ranged = predicate.range.variable >= 0;
  const auto ranges = ranged ? own_ranges(selected, predicate.range) : std::vector<Range>{};
  return where([&](const Block& block, std::size_t b) {
    const Bounds bounds = bounds_of(mesh, block);
    return predicate.needed({block, bounds.low, bounds.high, ranged ? ranges[b] : Range{}});
  });
}

}  // namespace sidestream
