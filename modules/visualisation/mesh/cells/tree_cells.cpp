#include "visualisation/mesh/cells/block_cells.hpp"

#include <algorithm>
#include <cmath>

#include "sidestream/kit/data/octree.hpp"
#include "sidestream/kit/mesh/place_names.hpp"
#include "visualisation/mesh/cells/cell_list.hpp"
#include "visualisation/mesh/cells/cell_shapes.hpp"

namespace sidestream {
namespace {

class TreeCells final : public BlockCells {
 public:
  TreeCells(const LocalInput& input, const Mesh& mesh, const BlockView& refined)
      : input_(input),
        mesh_(mesh),
        tree_(dynamic_cast<const OctreeGeometry&>(*mesh.geometry)),
        block_(refined.block),
        cells_(tree_cells(mesh, block_, refined.array)) {
    const BlockView* owned = input.find(mesh.array(Role::owned), block_.id);
    absent_ = uncounted_cells(refined.array, owned ? owned->array : ArrayView{});
    number_corners();
  }

  std::size_t cells() const override { return cells_.size(); }
  std::size_t points() const override { return nodes_.size(); }
  Standing standing(std::size_t cell) const override { return absent_[cell] == 0 ? Standing::own : Standing::absent; }
  void load(std::size_t number, BlockCell& cell) const override {
    constexpr std::uint8_t types[] = {vtk_line, vtk_pixel, vtk_voxel};
    cell.type = types[mesh_.dimensions - 1];
    cell.faces.clear();
    const auto first = corners_.begin() + first_corner_[number];
    cell.points.assign(first, first + (1 << mesh_.dimensions));
  }
  std::array<double, 3> place(std::size_t point) const override {
    const TreeCell& node = nodes_[point];
    std::array<double, 3> x{0, 0, 0};
    for (std::size_t a = 0; a < static_cast<std::size_t>(mesh_.dimensions); ++a) {
      // Powers of two are exact: neighbours on any level have the same corners to the last bit.
      x[a] = tree_.origin()[a] + tree_.spacing()[a] * std::ldexp(static_cast<double>(node.index[a]), -node.level);
    }
    return x;
  }
  PointKey key(std::size_t point) const override {
    const TreeName name = name_of(nodes_[point], extents(nodes_[point].level, 1), mesh_.dimensions);
    return {PointKey::of_mesh, name.a, name.b};
  }
  std::int32_t level(std::size_t cell) const override { return cells_[cell].level; }
  std::int64_t name(std::size_t cell) const override {
    return name_of(cells_[cell], extents(cells_[cell].level, 0), mesh_.dimensions).a;
  }
  BlockNumbers numbers(const Variable& variable, int component) const override {
    const BlockView* view = input_.find(variable.id, block_.id);
    return {false, view == nullptr ? std::vector<double>() : numbers_of(*view, component)};
  }

 private:
  /// The number of cells, or with `more` 1 of nodes, of a level along each axis.
  [[nodiscard]] Index3 extents(std::int32_t level, Index more) const {
    Index3 extents{1, 1, 1};
    for (std::size_t a = 0; a < static_cast<std::size_t>(mesh_.dimensions); ++a) {
      extents[a] = (tree_.roots()[a] << level) + more;
    }
    return extents;
  }

  /// A corner of a cell, on the coarsest level that has it.
  [[nodiscard]] TreeCell corner(const TreeCell& cell, int corner) const {
    TreeCell node = cell;
    Index odd = 0;
    for (int a = 0; a < 3; ++a) {  // along axes that the mesh does not use every index is 0
      Index& index = node.index[static_cast<std::size_t>(a)];
      index += corner >> a & 1;
      odd |= index;
    }
    for (; node.level > 0 && (odd & 1) == 0; --node.level, odd >>= 1) {
      for (Index& index : node.index) index >>= 1;
    }
    return node;
  }

  /// Numbers the corners of the counting leaves, in the order of positions.
  void number_corners() {
    struct Corner {
      TreeCell node;
      std::size_t slot;
    };
    std::vector<Corner> all;
    first_corner_.assign(cells_.size(), 0);
    for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
      if (absent_[cell] != 0) continue;
      first_corner_[cell] = static_cast<std::ptrdiff_t>(all.size());
      for (int c = 0; c < 1 << mesh_.dimensions; ++c) all.push_back({corner(cells_[cell], c), all.size()});
    }
    corners_.resize(all.size());
    const auto place = [](const Corner& c) { return std::pair(c.node.level, c.node.index); };
    std::sort(all.begin(), all.end(), [&](const Corner& a, const Corner& b) { return place(a) < place(b); });
    for (std::size_t n = 0; n < all.size(); ++n) {
      if (n == 0 || place(all[n]) != place(all[n - 1])) nodes_.push_back(all[n].node);
      corners_[all[n].slot] = nodes_.size() - 1;
    }
  }

  const LocalInput& input_;
  const Mesh& mesh_;
  const OctreeGeometry& tree_;
  const Block block_;
  std::vector<TreeCell> cells_;
  std::vector<std::uint8_t> absent_;
  std::vector<TreeCell> nodes_;  ///< the points, named by the cell whose lower corner they are
  std::vector<std::size_t> corners_;
  std::vector<std::ptrdiff_t> first_corner_;  ///< by cell
};

}  // namespace

std::unique_ptr<BlockCells> leaves_of_block(const LocalInput& input, const Mesh& mesh, const BlockView& view) {
  const BlockView* refined = input.find(mesh.array(Role::refined), view.block.id);
  const bool owned_is_missing =
      mesh.array(Role::owned) >= 0 && input.find(mesh.array(Role::owned), view.block.id) == nullptr;
  if (refined == nullptr || owned_is_missing) return nullptr;
  return std::make_unique<TreeCells>(input, mesh, *refined);
}

}  // namespace sidestream
