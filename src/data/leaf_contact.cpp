// Rims of patches next to other patches. A cell i of width w, in cells of the finest level, is [i w, (i + 1) w]. It has
// a point in common with [low, high] if i w <= high and (i + 1) w >= low. So the touching cells along each axis go from
// ceil(low / w) - 1 to floor(high / w), and all axes together give a box for each box of the other patch's leaves.
#include "sidestream/kit/data/leaf_contact.hpp"

#include <algorithm>

#include "data/levels.hpp"

namespace sidestream {

namespace {

/// Cells of `level` that have a point in common with a box of cells of another level.
Box touching(const Mesh& mesh, const Box& box, std::int32_t level_of_box, std::int32_t level) {
  const auto finest = static_cast<std::int32_t>(mesh.refinement.size());
  const Index3 all = mesh.ratio_to(finest), from = mesh.ratio_to(level_of_box), to = mesh.ratio_to(level);
  Box cells;
  for (std::size_t a = 0; a < 3; ++a) {
    const Index width = all[a] / to[a], other = all[a] / from[a];
    cells.lo[a] = -floor_divided(-box.lo[a] * other, width) - 1;
    cells.hi[a] = floor_divided(box.hi[a] * other, width) + 1;
  }
  return cells;
}

/// Joins two boxes that together are a box; false if they are not.
bool join(Box& into, const Box& other) {
  if (into.contains(other)) return true;
  if (other.contains(into)) {
    into = other;
    return true;
  }
  int differ = -1;
  for (int a = 0; a < 3; ++a) {
    if (into.lo[a] == other.lo[a] && into.hi[a] == other.hi[a]) continue;
    if (differ >= 0) return false;
    differ = a;
  }
  if (into.lo[differ] > other.hi[differ] || other.lo[differ] > into.hi[differ]) return false;
  into.lo[differ] = std::min(into.lo[differ], other.lo[differ]);
  into.hi[differ] = std::max(into.hi[differ], other.hi[differ]);
  return true;
}

/// Adds a box to a list, and joins boxes where that is easily found: each box costs bytes in messages.
void add(std::vector<Box>& boxes, Box box) {
  for (std::size_t n = 0; n < boxes.size();) {
    if (join(box, boxes[n])) {
      boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(n));
      n = 0;  // the larger box may join others
    } else {
      ++n;
    }
  }
  boxes.push_back(box);
}

}  // namespace

bool boxes_touch(const Mesh& mesh, const Box& a, std::int32_t level_a, const Box& b, std::int32_t level_b) {
  const auto finest = static_cast<std::int32_t>(mesh.refinement.size());
  if (level_a > finest || level_b > finest) return false;
  const Index3 all = mesh.ratio_to(finest), of_a = mesh.ratio_to(level_a), of_b = mesh.ratio_to(level_b);
  for (std::size_t d = 0; d < 3; ++d) {
    const Index wide = all[d] / of_a[d], other = all[d] / of_b[d];
    if (a.lo[d] * wide > b.hi[d] * other || b.lo[d] * other > a.hi[d] * wide) return false;
  }
  return true;
}

const std::vector<Box>& LeafContact::leaves(std::size_t position) {
  std::optional<std::vector<Box>>& known = leaves_[position];
  if (known) return *known;
  known.emplace(1, blocks_[position].cells);
  for (const Box& covered : covered_cells(mesh_, blocks_[position], blocks_, index_)) {
    *known = difference(*known, covered);
  }
  return *known;
}

bool LeafContact::between(std::size_t a, std::size_t b) {
  const Block &one = blocks_[a], &other = blocks_[b];
  if (!boxes_touch(mesh_, one.cells, one.level, other.cells, other.level)) return false;
  const std::vector<Box>& mine = leaves(a);
  const std::vector<Box>& theirs = leaves(b);
  return std::any_of(mine.begin(), mine.end(), [&](const Box& box) {
    if (!boxes_touch(mesh_, box, one.level, other.cells, other.level)) return false;
    return std::any_of(theirs.begin(), theirs.end(),
                       [&](const Box& leaf) { return boxes_touch(mesh_, box, one.level, leaf, other.level); });
  });
}

std::vector<Box> LeafContact::rim(std::size_t of, std::size_t beside, bool whole) {
  std::vector<Box> cells;
  const Block &one = blocks_[of], &other = blocks_[beside];
  if (!boxes_touch(mesh_, one.cells, one.level, other.cells, other.level)) return cells;
  const std::vector<Box> all{one.cells};
  const std::vector<Box>& mine = whole ? all : leaves(of);
  for (const Box& leaf : leaves(beside)) {
    const Box near = touching(mesh_, leaf, other.level, one.level);
    for (const Box& box : mine) {
      const Box both = intersection(near, box);
      if (!both.empty()) add(cells, both);
    }
  }
  return cells;
}

std::vector<std::int64_t> LeafContact::near(std::size_t position) const {
  std::vector<std::int64_t> all, found;
  const Block& block = blocks_[position];
  const auto finest = static_cast<std::int32_t>(mesh_.refinement.size());
  for (std::int32_t level = 0; level <= finest && block.level <= finest; ++level) {
    index_.overlapping(mesh_.id, level, reach_on(mesh_, block, level), found);
    for (const std::int64_t n : found) {
      if (n != static_cast<std::int64_t>(position)) all.push_back(n);
    }
  }
  return all;
}

CountedParts counted_parts(const Mesh& mesh, std::span<const Block> blocks, const BlockIndex& index,
                           std::span<const std::int64_t> positions, bool in_cells) {
  CountedParts parts;
  LeafContact contact(mesh, blocks, index);
  for (const std::int64_t position : positions) {
    const auto b = static_cast<std::size_t>(position);
    const Block& block = blocks[b];
    if (block.mesh != mesh.id || block.is_list() || block.empty()) continue;
    const std::vector<Box>& leaves = contact.leaves(b);
    const bool uncovered = leaves.size() == 1 && leaves.front() == block.cells;
    if (!uncovered) parts.own.push_back({position, position, leaves});
    for (const std::int64_t n : contact.near(b)) {
      const auto other = static_cast<std::size_t>(n);
      const bool whole = !in_cells && blocks[other].level == block.level;
      std::vector<Box> cells = contact.rim(b, other, whole);
      if (!cells.empty()) parts.rims.push_back({position, n, std::move(cells)});
    }
  }
  return parts;
}

}  // namespace sidestream
