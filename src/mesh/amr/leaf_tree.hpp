// A tree over cells of several levels, for finding the corners at which its leaves meet.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "mesh/amr/lattice.hpp"
#include "mesh/amr/leaf_set.hpp"

namespace sidestream {

/// The tree. Levels above the coarsest, each with half the resolution, join all root cells.
class LeafTree {
 public:
  /// Kinds of nodes without children: unknown (leaves of other blocks may be there), outside of the mesh, or leaf n as
  /// `leaf_code(n)`.
  enum : Index { unknown = -1, outside = -2 };
  [[nodiscard]] static constexpr Index leaf_code(std::int64_t leaf) noexcept { return -3 - leaf; }

  /// Makes the tree of a block of an octree. Cell n is leaf n if `absent[n]` is 0, and has `numbers[n]`.
  LeafTree(const Lattice& lattice, const ArrayView& refined, std::span<const std::uint8_t> absent,
           std::span<const double> numbers);
  /// Makes a tree of leaves in the order of their levels: leaves that overlap a finer one are ignored. Of several for
  /// the same cell the first counts. Elsewhere the tree is unknown.
  LeafTree(const Lattice& lattice, const LeafSet& leaves);

  /// Leaves around a corner, as in DualCell; -1: unknown.
  using Corner = std::function<void(const DualCell&)>;
  /// Calls `f` for the corners inside the mesh where one of `values` lies between the leaves' numbers. That includes
  /// corners where it may lie because some are unknown. With `skip_unknown` corners with unknown leaves are left out.
  void for_each_corner(std::span<const double> values, bool skip_unknown, const Corner& f) const;

 private:
  struct Node {
    Index first = unknown;     ///< the first of its children, which are contiguous, x fastest
    double low = 1, high = 0;  ///< range of the finite numbers below it; none: low > high
    bool some_unknown = true;  ///< some node below it is unknown
  };
  using Around = std::array<Index, 8>;  ///< nodes around an element; see LeafTree::descend
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
  std::vector<Index3> ratios_;  ///< by depth: children along each axis
  std::vector<Node> nodes_;     ///< leaves and fathers
  Index top_ = 0;
};

}  // namespace sidestream
