// Walks over octrees from the roots down that skip unneeded subtrees.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sidestream/kit/data/octree.hpp"

namespace sidestream {

/// Finds the children of each cell of a block's tree. Cells are stored breadth first: the children of the n-th refined
/// cell, counted through all levels, are the n-th group behind the root cells. A bit for each cell, and a count for
/// every 64 of them, give n in constant time (Jacobson, "Space-efficient static trees and graphs", 1989).
class TreeIndex {
 public:
  /// Takes one pass over the flags. Keeps references to the mesh. Throws Error(usage) as level_starts() does.
  TreeIndex(const Mesh& mesh, const Block& block, const ArrayView& refined);

  [[nodiscard]] Index cells() const noexcept { return cells_; }
  /// The first cell of each level, followed by the number of cells.
  [[nodiscard]] const std::vector<Index>& level_starts() const noexcept { return starts_; }
  [[nodiscard]] bool refined(Index cell) const noexcept {
    const auto n = static_cast<std::size_t>(cell);
    return (bits_[n / 64] >> n % 64 & 1) != 0;
  }
  /// The first child of a refined cell; the others follow, x fastest.
  [[nodiscard]] Index first_child(Index cell) const noexcept { return roots_ + (refined_before(cell) << dimensions_); }
  [[nodiscard]] int children() const noexcept { return 1 << dimensions_; }
  [[nodiscard]] TreeCell child(const TreeCell& of, int number) const noexcept {
    TreeCell cell{of.level + 1, of.index};
    for (int a = 0; a < dimensions_; ++a) {
      Index& index = cell.index[static_cast<std::size_t>(a)];
      index = 2 * index + (number >> a & 1);
    }
    return cell;
  }

  /// Calls `enter(cell)` for root cells, and for the children of each cell for which it returned true. Calls
  /// `leaf(number, cell)` for entered cells that are not refined. Parents come before their children.
  template <class Enter, class Leaf>
  void walk(Enter&& enter, Leaf&& leaf) const {
    if (cells_ == 0) return;
    Index number = 0;
    for (Index k = 0; k < extents_[2]; ++k) {
      for (Index j = 0; j < extents_[1]; ++j) {
        for (Index i = 0; i < extents_[0]; ++i) visit(number++, {0, {i, j, k}}, enter, leaf);
      }
    }
  }

 private:
  template <class Enter, class Leaf>
  void visit(Index number, const TreeCell& cell, Enter& enter, Leaf& leaf) const {
    if (!enter(cell)) return;
    if (!refined(number)) return leaf(number, cell);
    const Index first = first_child(number);
    for (int c = 0; c < children(); ++c) visit(first + c, child(cell, c), enter, leaf);
  }

  [[nodiscard]] Index refined_before(Index cell) const noexcept {
    const auto n = static_cast<std::size_t>(cell);
    const std::uint64_t below = bits_[n / 64] & ((std::uint64_t{1} << n % 64) - 1);
    return before_[n / 64] + std::popcount(below);
  }

  int dimensions_;
  Index3 extents_;
  Index roots_, cells_;
  std::vector<std::uint64_t> bits_;  ///< set for refined cells; one word more than needed
  std::vector<Index> before_;        ///< refined cells before each word
  std::vector<Index> starts_;
};

/// Coordinates of the corners of cells. A corner has the same bits on every level.
class TreePlaces {
 public:
  explicit TreePlaces(const Mesh& mesh) : tree_(dynamic_cast<const OctreeGeometry&>(*mesh.geometry)) {}
  [[nodiscard]] double node(int axis, std::int32_t level, Index index) const noexcept {
    // Powers of two are exact.
    const double size = level < 63 ? 1 / static_cast<double>(std::uint64_t{1} << level) : 0x1p-63;
    return tree_.origin()[static_cast<std::size_t>(axis)] +
           tree_.spacing()[static_cast<std::size_t>(axis)] * (static_cast<double>(index) * size);
  }

 private:
  const OctreeGeometry& tree_;
};

/// The uniform mesh with refinement levels that has the cells of a tree: `levels` steps of ratio 2 along the used axes.
[[nodiscard]] Mesh as_levels(const Mesh& tree, std::int32_t levels);

}  // namespace sidestream
