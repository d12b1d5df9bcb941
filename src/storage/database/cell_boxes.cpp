// Cells of a refined mesh in a box: of patches, and of trees.
//
// Cells of blocks that are boxes, with or without refinement levels:
//
//   for each level, for each block: mark the cells in the box that belong to no block of a lower id
//     for each finer level: a cell that its blocks cover completely is refined
//
// Cells of octrees, from the flags of their blocks:
//
//   for each block whose bounds meet the box
//     for each level from the roots: keep the cells that meet the box; the children of refined ones are the next level
//   for each level: sort the cells of all blocks along the Morton curve; among equal cells keep the first
//     (see `put`)
#include "storage/database/cell_boxes.hpp"

#include <bit>
#include <cmath>
#include <span>
#include <tuple>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::database {

namespace {

constexpr std::uint8_t is_there = 1, is_refined = 2;

/// Marks of the cells in a part of a block, i fastest.
class Marks {
 public:
  explicit Marks(const Box& box) : box_(box), marks_(static_cast<std::size_t>(box.count()), is_there) {}

  template <class Visit>
  void for_each(const Box& part, Visit&& visit) {
    const Box inside = intersection(part, box_);
    if (inside.empty()) return;
    for (Index k = inside.lo[2]; k < inside.hi[2]; ++k) {
      for (Index j = inside.lo[1]; j < inside.hi[1]; ++j) {
        for (Index i = inside.lo[0]; i < inside.hi[0]; ++i) visit(Index3{i, j, k}, at({i, j, k}));
      }
    }
  }
  [[nodiscard]] std::size_t at(const Index3& index) const {
    const Index row = (index[2] - box_.lo[2]) * box_.extent(1) + index[1] - box_.lo[1];
    return static_cast<std::size_t>(row * box_.extent(0) + index[0] - box_.lo[0]);
  }
  [[nodiscard]] const Box& box() const noexcept { return box_; }
  [[nodiscard]] std::uint8_t& operator[](std::size_t at) { return marks_[at]; }

 private:
  Box box_;
  std::vector<std::uint8_t> marks_;
};

/// The parts of a level's blocks in a box, without overlap.
std::vector<Box> own_parts(const CellList& list, std::int32_t level, const Box& meeting) {
  std::vector<Box> parts, before;
  for (const PlacedBlock& placed : list.blocks) {
    const Box box = intersection(placed.block.cells, meeting);
    if (placed.block.level != level || box.empty()) continue;
    std::vector<Box> own{box};
    for (const Box& earlier : before) own = difference(own, earlier);
    parts.insert(parts.end(), own.begin(), own.end());
    before.push_back(box);
  }
  return parts;
}

/// Marks the cells that boxes of a finer level cover completely. The boxes do not overlap.
void mark_covered(Marks& marks, const std::vector<Box>& finer, const Index3& ratio) {
  std::vector<Index> covered(static_cast<std::size_t>(marks.box().count()));
  for (const Box& fine : finer) {
    Box coarse = fine;
    for (std::size_t a = 0; a < 3; ++a) {
      coarse.lo[a] = fine.lo[a] / ratio[a] - (fine.lo[a] % ratio[a] < 0 ? 1 : 0);
      coarse.hi[a] = (fine.hi[a] - 1) / ratio[a] - ((fine.hi[a] - 1) % ratio[a] < 0 ? 1 : 0) + 1;
    }
    marks.for_each(coarse, [&](const Index3& index, std::size_t at) {
      Box cell;
      for (std::size_t a = 0; a < 3; ++a) {
        cell.lo[a] = index[a] * ratio[a];
        cell.hi[a] = cell.lo[a] + ratio[a];
      }
      covered[at] += intersection(cell, fine).count();
    });
  }
  const Index whole = ratio[0] * ratio[1] * ratio[2];
  for (std::size_t n = 0; n < covered.size(); ++n) {
    if (covered[n] == whole) marks[n] |= is_refined;
  }
}

void put(const CellRange& range, std::uint32_t number, Marks& marks, CellList& list) {
  const Block& block = list.blocks[number].block;
  const Index row = block.cells.extent(0), plane = row * block.cells.extent(1);
  marks.for_each(marks.box(), [&](const Index3& index, std::size_t at) {
    const bool refined = (marks[at] & is_refined) != 0;
    if ((marks[at] & is_there) == 0 || (range.leaves && refined)) return;
    const Index place =
        index[0] - block.cells.lo[0] + row * (index[1] - block.cells.lo[1]) + plane * (index[2] - block.cells.lo[2]);
    append(list, {block.level, index, refined, block.id, number, place});
  });
}

}  // namespace

void find_patch_cells(const Mesh& mesh, const CellRange& range, CellList& list) {
  const std::int32_t finest = list.blocks.empty() ? -1 : std::min(list.blocks.back().block.level, range.deepest);
  std::vector<Box> before;
  for (std::uint32_t n = 0; n < list.blocks.size(); ++n) {
    const Block& block = list.blocks[n].block;
    if (block.level < range.coarsest || block.level > range.deepest) continue;
    if (n > 0 && list.blocks[n - 1].block.level != block.level) before.clear();
    const Box wanted = intersection(block.cells, on_level(mesh, range.box, range.level, block.level));
    if (wanted.empty()) continue;
    Marks marks(wanted);
    for (const Box& earlier : before) {
      marks.for_each(earlier, [&](const Index3&, std::size_t at) { marks[at] = 0; });
    }
    before.push_back(wanted);
    for (std::int32_t finer = block.level + 1; finer <= finest; ++finer) {
      const std::vector<Box> parts = own_parts(list, finer, on_level(mesh, wanted, block.level, finer));
      mark_covered(marks, parts, ratio_of(mesh, block.level, finer));
    }
    put(range, n, marks, list);
  }
}

namespace {

constexpr double rounding = 1e-12;  ///< in root cells: blocks that only touch may overlap by this much

/// True if `a` comes before `b` along the Morton curve; i has the lowest bits. No index is negative.
bool precedes(const Index3& a, const Index3& b) {
  std::size_t axis = 0;
  std::uint64_t most = 0;
  for (std::size_t n = 0; n < 3; ++n) {
    const auto differs = static_cast<std::uint64_t>(a[n]) ^ static_cast<std::uint64_t>(b[n]);
    const bool is_higher = most < differs && most < (most ^ differs);
    if (is_higher || (differs != 0 && std::countl_zero(differs) == std::countl_zero(most))) {
      axis = n;
      most = differs;
    }
  }
  return a[axis] < b[axis];
}

/// The place in space of a box of cells. Consists of whole cells of a level, shrunk by the rounding so that adjacent
/// blocks do not meet it.
Bounds bounds_on(const Mesh& mesh, const Box& box, std::int32_t level) {
  const auto& octree = static_cast<const OctreeGeometry&>(*mesh.geometry);
  const Index3 ratio = ratio_of(mesh, 0, level);
  Bounds bounds;
  for (std::size_t a = 0; a < 3; ++a) {
    const double size = octree.spacing()[a] / static_cast<double>(ratio[a]);
    const double low = octree.origin()[a] + size * static_cast<double>(box.lo[a]);
    const double high = octree.origin()[a] + size * static_cast<double>(box.hi[a]);
    const double less = std::min(rounding * std::abs(octree.spacing()[a]), 0.25 * std::abs(size));
    bounds.low[a] = std::min(low, high) + less;
    bounds.high[a] = std::max(low, high) - less;
  }
  return bounds;
}

bool meet(const Bounds& a, const Bounds& b, int dimensions) {
  for (std::size_t n = 0; n < static_cast<std::size_t>(dimensions); ++n) {
    if (a.low[n] > b.high[n] || b.low[n] > a.high[n]) return false;
  }
  return true;
}

/// A cell that meets the box, and its number among the cells of its level in its block.
struct Kept {
  Index number = 0;
  Index3 index{};
};

/// The children of the refined cells in `cells` that meet the box.
std::vector<Kept> children(std::span<const Kept> cells, Flags refined, const Box& box, int dimensions) {
  std::vector<Kept> found;
  const Index count = Index{1} << dimensions;
  Index rank = 0, next = 0;  // refined cells before cell `next` of the level
  for (const Kept& cell : cells) {
    for (; next < cell.number; ++next) rank += refined[static_cast<std::size_t>(next)] != 0 ? 1 : 0;
    if (refined[static_cast<std::size_t>(cell.number)] == 0) continue;
    for (Index child = 0; child < count; ++child) {
      Index3 index = cell.index;
      for (int a = 0; a < dimensions; ++a)
        index[static_cast<std::size_t>(a)] = 2 * index[static_cast<std::size_t>(a)] + (child >> a & 1);
      if (box.contains(index)) found.push_back({rank * count + child, index});
    }
  }
  return found;
}

std::vector<Kept> root_cells(const Index3& roots, const Box& box) {
  std::vector<Kept> found;
  const Box wanted = intersection(box, {{0, 0, 0}, roots});
  if (wanted.empty()) return found;
  for (Index k = wanted.lo[2]; k < wanted.hi[2]; ++k) {
    for (Index j = wanted.lo[1]; j < wanted.hi[1]; ++j) {
      for (Index i = wanted.lo[0]; i < wanted.hi[0]; ++i)
        found.push_back({i + roots[0] * (j + roots[1] * k), {i, j, k}});
    }
  }
  return found;
}

}  // namespace

/// Reads a block's ownership flags of cells; empty: it owns all.
std::vector<std::uint8_t> TreeCells::owned_flags(const PlacedBlock& placed, Index cells) const {
  const std::int32_t variable = mesh_.array(Role::owned);
  std::vector<std::uint8_t> flags;
  if (variable < 0) return flags;
  Context& context = values_.context();
  const PieceRow* const row = context.find(placed.group, static_cast<std::uint32_t>(variable), placed.row);
  if (row == nullptr) return flags;
  flags.resize(static_cast<std::size_t>(cells));
  read_piece(context, placed.group, *row, std::as_writable_bytes(std::span(flags)));
  return flags;
}

void TreeCells::add(std::uint32_t number, const PlacedBlock& placed) {
  const std::vector<std::uint8_t> owned = owned_flags(placed, placed.block.cells.hi[0]);
  const LinkedTree& tree = values_.context().tree(placed.group, placed.row);
  if (tree.levels() > most_tree_levels) {
    fail(Code::file, "the tree of block {} of the mesh '{}' has {} levels, expected at most {}; the file is damaged",
         placed.block.id, mesh_.name, tree.levels(), most_tree_levels);
  }
  const auto& octree = static_cast<const OctreeGeometry&>(*mesh_.geometry);
  std::vector<Kept> cells = root_cells(octree.roots(), on_level(mesh_, range_.box, range_.level, 0));
  for (std::int32_t level = 0; level < tree.levels() && level <= range_.deepest && !cells.empty(); ++level) {
    const Index first = tree.starts()[static_cast<std::size_t>(level)];
    const Flags flags = tree.refined().subspan(static_cast<std::size_t>(first));
    if (static_cast<std::size_t>(level) >= found_.size()) found_.resize(static_cast<std::size_t>(level) + 1);
    for (const Kept& cell : level < range_.coarsest ? std::vector<Kept>() : cells) {
      const auto place = static_cast<std::size_t>(first + cell.number);
      found_[static_cast<std::size_t>(level)].push_back({cell.index, number, static_cast<Index>(place),
                                                         tree.refined()[place] != 0,
                                                         owned.empty() || owned[place] != 0});
    }
    if (level == range_.deepest || level + 1 == tree.levels()) break;
    cells = children(cells, flags, on_level(mesh_, range_.box, range_.level, level + 1), mesh_.dimensions);
  }
}

void TreeCells::find(CellList& list) {
  // Parents are compared over all blocks that meet a whole parent.
  const std::int32_t whole =
      range_.leaves ? std::min(range_.deepest, range_.level) : std::min(range_.coarsest, range_.level);
  const Bounds wanted = bounds_on(mesh_, on_level(mesh_, range_.box, range_.level, whole), whole);
  for (std::uint32_t n = 0; n < list.blocks.size(); ++n) {
    const Block& block = list.blocks[n].block;
    if (block.cells.hi[0] == 0) continue;
    if (block.bounds.known() && !meet(block.bounds, wanted, mesh_.dimensions)) continue;
    add(n, list.blocks[n]);
  }
  for (std::size_t level = 0; level < found_.size(); ++level) {
    put(static_cast<std::int32_t>(level), found_[level], list);
    found_[level] = {};
  }
}

void TreeCells::put(std::int32_t level, std::vector<Found>& cells, CellList& list) const {
  // Best first: parents before their pruned copies, which are leaves; then owners; then the lowest block.
  std::sort(cells.begin(), cells.end(), [](const Found& a, const Found& b) {
    if (a.index != b.index) return precedes(a.index, b.index);
    return std::tuple(!a.refined, !a.owned, a.block) < std::tuple(!b.refined, !b.owned, b.block);
  });
  const auto same = [](const Found& a, const Found& b) { return a.index == b.index; };
  cells.erase(std::unique(cells.begin(), cells.end(), same), cells.end());
  for (const Found& cell : cells) {
    const std::int64_t holder = list.blocks[cell.block].block.id;
    const bool as_leaf = level == range_.deepest && cell.refined;
    const std::int64_t owner = cell.owned || as_leaf ? holder : -1;
    if (range_.leaves && ((cell.refined && !as_leaf) || owner == -1)) continue;
    append(list, {level, cell.index, cell.refined && !as_leaf, owner, cell.block, cell.place});
  }
}

}  // namespace sidestream::database
