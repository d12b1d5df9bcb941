// Dual cells of one block (dual contouring over refinement levels; references in leaf_tree.hpp).
//
// Each corner at which leaves meet has a dual cell, whose points are the centres of these leaves. A block knows all
// leaves at corners inside it; corners on its rim need leaves of other blocks and are completed later from the rims of
// all blocks (extract). So this file
//   1. finds the leaves of the block that count: owned, not covered by a finer level, chosen;
//   2. visits each corner around which the values may have a contour. A tree is descended from the root
//      (leaf_tree.cpp); a patch is visited by a loop over the corners of its box;
//   3. keeps the dual cells whose leaves are all here, and marks the leaves of the others as rim.
#include "visualisation/mesh/amr/block_leaves.hpp"

#include <algorithm>
#include <cmath>

#include "sidestream/kit/data/tree_walk.hpp"
#include "visualisation/mesh/amr/leaf_tree.hpp"
#include "visualisation/mesh/cells/cell_list.hpp"

namespace sidestream {
namespace {

/// A component in the cells of a block. For values at nodes this is the mean of the corners, each taken from the block
/// that owns it.
std::vector<double> in_cells(const Variable& variable, const BlockView& view, int component, int dimensions) {
  if (variable.centering == Centering::cell) return numbers_of(view, component);
  const Box& cells = view.block.cells;
  const Box nodes = points_of(nodes_of(dimensions), cells);
  std::vector<double> at_nodes(static_cast<std::size_t>(nodes.count())), means;
  view.gather(nodes, component, at_nodes.data());
  means.reserve(static_cast<std::size_t>(cells.count()));
  const Index row = nodes.extent(0), layer = row * nodes.extent(1);
  const int corners = 1 << dimensions;
  Index3 p;
  for (p[2] = 0; p[2] < cells.extent(2); ++p[2]) {
    for (p[1] = 0; p[1] < cells.extent(1); ++p[1]) {
      for (p[0] = 0; p[0] < cells.extent(0); ++p[0]) {
        double sum = 0;
        for (int c = 0; c < corners; ++c) {
          sum += at_nodes[static_cast<std::size_t>((p[2] + (c >> 2)) * layer + (p[1] + (c >> 1 & 1)) * row + p[0] +
                                                   (c & 1))];
        }
        means.push_back(sum / corners);
      }
    }
  }
  return means;
}

/// The columns in their order; a variable that was not delivered becomes an empty column.
std::vector<std::vector<double>> numbers_in(const LocalInput& input, const BlockView& view,
                                            const LeafColumns& columns) {
  const auto variable = [&](std::int32_t id) -> const Variable& {
    return input.metadata.variables.at(static_cast<std::size_t>(id));
  };
  const int dimensions = input.metadata.mesh_of(variable(columns.variable)).dimensions;
  std::vector<std::vector<double>> numbers{in_cells(variable(columns.variable), view, columns.component, dimensions)};
  for (const std::int32_t field : columns.fields) {
    const BlockView* of = input.find(field, view.block.id);
    for (int c = 0; c < variable(field).components; ++c) {
      numbers.push_back(of ? in_cells(variable(field), *of, c, dimensions) : std::vector<double>());
    }
  }
  return numbers;
}

/// Separates corners inside the block from those on its rim.
class Sorter {
 public:
  Sorter(BlockLeaves& block, int dimensions, std::size_t leaves)
      : block_(block), corners_(std::size_t{1} << dimensions), on_rim_(leaves, 0) {}
  void take(const DualCell& corner) {
    const auto end = corner.begin() + static_cast<std::ptrdiff_t>(corners_);
    if (std::find(corner.begin(), end, -1) == end) {
      block_.duals.push_back(corner);
      return;
    }
    std::for_each(corner.begin(), end, [&](std::int64_t leaf) {
      if (leaf >= 0) on_rim_[static_cast<std::size_t>(leaf)] = 1;
    });
  }
  void finish() {
    for (std::size_t leaf = 0; leaf < on_rim_.size(); ++leaf) {
      if (on_rim_[leaf] != 0) block_.rim.push_back(leaf);
    }
  }

 private:
  BlockLeaves& block_;
  const std::size_t corners_;
  std::vector<char> on_rim_;
};

/// Marks the cells of a tree that are not chosen as absent.
void leave_out(const CellChoice& choice, const Mesh& mesh, const std::vector<TreeCell>& cells,
               std::vector<std::uint8_t>& absent) {
  if (choice.all()) return;
  const TreePlaces places(mesh);
  for (std::size_t n = 0; n < cells.size(); ++n) {
    const TreeCell& cell = cells[n];
    bool chosen = choice.has_level(cell.level);
    for (int a = 0; choice.boxed && a < mesh.dimensions; ++a) {
      const Index i = cell.index[static_cast<std::size_t>(a)];
      const double middle = 0.5 * (places.node(a, cell.level, i) + places.node(a, cell.level, i + 1));
      chosen = chosen && choice.has_place(static_cast<std::size_t>(a), middle);
    }
    if (!chosen) absent[n] = 1;
  }
}

BlockLeaves leaves_of_tree(const Lattice& lattice, const BlockView& view, const BlockView& refined,
                           const BlockView* owned, std::vector<std::vector<double>> numbers,
                           std::span<const double> values, const CellChoice& choice) {
  const Mesh& mesh = lattice.mesh();
  BlockLeaves block{{tree_cells(mesh, view.block, refined.array), std::move(numbers)}, {}, {}};
  // Cells are in the order of levels: the last one has the greatest.
  if (!block.leaves.cells.empty()) static_cast<void>(lattice.steps(block.leaves.cells.back().level));
  auto absent = uncounted_cells(refined.array, owned != nullptr ? owned->array : ArrayView{});
  leave_out(choice, mesh, block.leaves.cells, absent);
  const LeafTree tree(lattice, refined.array, absent, block.leaves.columns[0]);
  Sorter sorter(block, mesh.dimensions, absent.size());
  tree.for_each_corner(values, false, [&](const DualCell& corner) { sorter.take(corner); });
  sorter.finish();
  return block;
}

/// The leaves and corners of a patch.
class Patch {
 public:
  Patch(const Lattice& lattice, const BlockView& view, const BlockView* flags, const CellChoice& choice,
        BlockLeaves& block)
      : lattice_(lattice), box_(view.block.cells), all_(lattice.mesh().cells_on(view.block.level)), block_(block) {
    is_leaf_.assign(static_cast<std::size_t>(box_.count()), 0);
    const LevelAxes axes(lattice.mesh(), view.block.level);
    std::vector<Box> cells = view.points == box_ ? view.owned : std::vector<Box>{box_};
    for (const Box& covered : view.covered) cells = difference(cells, covered);
    for (const Box& counted : cells) {
      if (!choice.has_level(view.block.level)) continue;
      const Box chosen =
          chosen_in(choice, axes, Centering::cell, intersection(counted, box_), lattice.mesh().dimensions);
      for_each_index(chosen, [&](const Index3& p) {
        const bool flagged =
            flags != nullptr && flags->points.contains(p) && *flags->array.at<std::uint8_t>(p[0], p[1], p[2]) != 0;
        if (!flagged) is_leaf_[number(p)] = 1;
      });
    }
    block_.leaves.cells.reserve(is_leaf_.size());
    for_each_index(box_, [&](const Index3& p) { block_.leaves.cells.push_back({view.block.level, p}); });
  }

  void sort_corners(std::span<const double> values) {
    Sorter sorter(block_, lattice_.dimensions(), is_leaf_.size());
    Box corners = box_;  // corner p is the lower one of cell p; corners on the boundary of the mesh have no dual cell
    for (int a = 0; a < lattice_.dimensions(); ++a) {
      const auto d = static_cast<std::size_t>(a);
      corners.lo[d] = std::max(box_.lo[d], all_.lo[d] + 1);
      corners.hi[d] = std::min(box_.hi[d] + 1, all_.hi[d]);
    }
    for_each_index(corners, [&](const Index3& p) { sort_corner(p, values, sorter); });
    sorter.finish();
  }

 private:
  template <class F>
  static void for_each_index(const Box& box, F&& f) {
    Index3 p;
    for (p[2] = box.lo[2]; p[2] < box.hi[2]; ++p[2]) {
      for (p[1] = box.lo[1]; p[1] < box.hi[1]; ++p[1]) {
        for (p[0] = box.lo[0]; p[0] < box.hi[0]; ++p[0]) f(p);
      }
    }
  }
  [[nodiscard]] std::size_t number(const Index3& p) const {
    return static_cast<std::size_t>(((p[2] - box_.lo[2]) * box_.extent(1) + (p[1] - box_.lo[1])) * box_.extent(0) +
                                    (p[0] - box_.lo[0]));
  }
  void sort_corner(const Index3& p, std::span<const double> values, Sorter& sorter) const {
    DualCell corner{};
    double low = std::numeric_limits<double>::infinity(), high = -low;
    bool whole = true;
    for (unsigned b = 0; b < 1u << lattice_.dimensions(); ++b) {
      Index3 cell = p;
      for (unsigned a = 0; a < static_cast<unsigned>(lattice_.dimensions()); ++a) cell[a] -= (b >> a & 1) == 0 ? 1 : 0;
      const bool here = box_.contains(cell) && is_leaf_[number(cell)] != 0;
      corner[b] = here ? static_cast<std::int64_t>(number(cell)) : -1;
      whole = whole && here;
      if (!here) continue;
      const double value = block_.leaves.at(0, number(cell));
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (!whole || any_between(values, low, high)) sorter.take(corner);
  }

  const Lattice& lattice_;
  const Box box_, all_;
  BlockLeaves& block_;
  std::vector<char> is_leaf_;
};

}  // namespace

std::optional<BlockLeaves> find_leaves(const Lattice& lattice, const LocalInput& input, const BlockView& view,
                                       const LeafColumns& columns, std::span<const double> values) {
  const Mesh& mesh = lattice.mesh();
  if (view.copy || view.block.cells.empty()) return std::nullopt;
  if (mesh.kind() == MeshKind::octree) {
    const BlockView* refined = input.find(mesh.array(Role::refined), view.block.id);
    const BlockView* owned = input.find(mesh.array(Role::owned), view.block.id);
    if (refined == nullptr || (mesh.array(Role::owned) >= 0 && owned == nullptr)) return std::nullopt;
    return leaves_of_tree(lattice, view, *refined, owned, numbers_in(input, view, columns), values, columns.choice);
  }
  static_cast<void>(lattice.steps(view.block.level));
  BlockLeaves block{{{}, numbers_in(input, view, columns)}, {}, {}};
  Patch(lattice, view, input.find(mesh.array(Role::cell_ghosts), view.block.id), columns.choice, block)
      .sort_corners(values);
  return block;
}

LeafSet rim_of(const BlockLeaves& block) {
  LeafSet rim;
  rim.columns.resize(block.leaves.columns.size());
  for (const std::size_t leaf : block.rim) rim.cells.push_back(block.leaves.cells[leaf]);
  for (std::size_t c = 0; c < rim.columns.size(); ++c) {
    rim.columns[c].reserve(block.rim.size());
    for (const std::size_t leaf : block.rim) rim.columns[c].push_back(block.leaves.at(c, leaf));
  }
  return rim;
}

}  // namespace sidestream
