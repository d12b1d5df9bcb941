// Leaves of several levels with their values, and a tree to find the corners where they meet. The leaves around a
// corner make a dual cell.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/data/octree.hpp"
#include "sidestream/kit/mesh/lattice.hpp"

namespace sidestream {

/// Leaves: owned leaves of trees, or cells of patches that no finer level covers. Column 0 has the values for surfaces;
/// other columns have further fields. An empty column is NaN everywhere.
struct LeafSet {
  std::vector<TreeCell> cells;
  std::vector<std::vector<double>> columns;

  [[nodiscard]] double at(std::size_t column, std::size_t leaf) const noexcept {
    const std::vector<double>& values = columns[column];
    return values.empty() ? std::numeric_limits<double>::quiet_NaN() : values[leaf];
  }
};

/// A cell of the dual mesh. There is one for each corner at which leaves meet. Its points are the centres of the leaves
/// around the corner, two along each used axis, lower ones first, x fastest. A leaf on both sides of an axis occurs
/// several times. Dual cells share whole faces with their neighbours across levels, so that surfaces are closed at
/// borders of levels (Ju, Losasso, Schaefer and Warren, "Dual contouring of hermite data", 2002; Schaefer and Warren,
/// "Dual marching cubes", 2004).
using DualCell = std::array<std::int64_t, 8>;  ///< numbers of leaves; 4 are used in two dimensions

/// True if one of the values is in (low, high], the interval in which surfaces count a value as crossed.
[[nodiscard]] inline bool any_between(std::span<const double> values, double low, double high) noexcept {
  for (const double value : values) {
    if (low < value && high >= value) return true;
  }
  return false;
}

/// A tree with one root. Extra levels above the coarsest, each half as fine, join all root cells.
class LeafTree {
 public:
  /// Kinds of nodes without children: `unknown` (other blocks may have leaves there), `outside` the mesh, or leaf n as
  /// `leaf_code(n)`.
  enum : Index { unknown = -1, outside = -2 };
  [[nodiscard]] static constexpr Index leaf_code(std::int64_t leaf) noexcept { return -3 - leaf; }

  /// The tree of an octree block. Cell n is leaf n with `numbers[n]` if `absent[n]` is 0.
  LeafTree(const Lattice& lattice, const ArrayView& refined, std::span<const std::uint8_t> absent,
           std::span<const double> numbers);
  /// A tree of leaves in the order of their levels. A leaf that overlaps a finer one is ignored. Of equal cells the
  /// first counts. Space without leaves is unknown.
  LeafTree(const Lattice& lattice, const LeafSet& leaves);

  /// Takes the leaves around a corner, as in DualCell; -1: unknown.
  using Corner = std::function<void(const DualCell&)>;
  /// Calls `f` for each corner inside the mesh if one of `values` lies between the numbers of the leaves around it, or
  /// may lie there because a leaf is unknown. `skip_unknown`: skips corners with unknown nodes.
  void for_each_corner(std::span<const double> values, bool skip_unknown, const Corner& f) const;

 private:
  struct Node {
    Index first = unknown;     ///< the first child; children are consecutive, x fastest
    double low = 1, high = 0;  ///< range of the finite numbers below it; none: low > high
    bool some_unknown = true;  ///< some node below it is unknown
  };
  using Around = std::array<Index, 8>;  ///< the nodes around an element; see LeafTree::descend
  struct Search;

  void find_ratios(const Lattice& lattice);
  Index add_children(std::size_t depth);
  void gather(std::size_t node, std::size_t depth);
  Node join_roots(const Lattice& lattice, std::size_t depth, const Index3& index, std::span<const Node> roots);
  void insert(const Lattice& lattice, const TreeCell& cell, std::int64_t leaf, double number);
  void descend(const Search& search, std::size_t depth, unsigned closed, const Around& nodes) const;
  void descend_below(const Search& search, std::size_t depth, unsigned closed, const Around& nodes) const;

  int dimensions_;
  std::size_t above_ = 0;       ///< levels above the coarsest
  std::vector<Index3> ratios_;  ///< number of children along each axis, by depth
  std::vector<Node> nodes_;     ///< leaves and parents
  Index top_ = 0;
};

}  // namespace sidestream
