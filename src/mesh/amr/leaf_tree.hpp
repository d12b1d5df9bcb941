// A tree over cells of several levels, in which the corners are found at which its leaves meet.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "mesh/amr/lattice.hpp"
#include "mesh/amr/leaf_set.hpp"

namespace sidestream {

/// Levels above the coarsest, each half as fine, join all root cells in one.
class LeafTree {
 public:
  /// What a node is that has no children: nothing is known of it (leaves of other blocks may be there), it is beyond
  /// the mesh, or leaf n by `leaf_code(n)`.
  enum : Index { unknown = -1, outside = -2 };
  [[nodiscard]] static constexpr Index leaf_code(std::int64_t leaf) noexcept { return -3 - leaf; }

  /// Of a block of an octree. Cell n is leaf n if `absent[n]` is 0, and has `numbers[n]`.
  LeafTree(const Lattice& lattice, const ArrayView& refined, std::span<const std::uint8_t> absent,
           std::span<const double> numbers);
  /// Of leaves in the order of their levels: what overlaps a finer one is not looked at. Of the same cell the first
  /// counts. Where there are none nothing is known.
  LeafTree(const Lattice& lattice, const LeafSet& leaves);

  /// Leaves round a corner, as in DualCell; -1: unknown.
  using Corner = std::function<void(const DualCell&)>;
  /// Calls `f` for the corners inside the mesh round which one of `values` is between the leaves' numbers, or may be
  /// since some are unknown. `skip_unknown`: not for corners with such.
  void for_each_corner(std::span<const double> values, bool skip_unknown, const Corner& f) const;

 private:
  struct Node {
    Index first = unknown;     ///< of its children; they lie one behind the other, x fastest
    double low = 1, high = 0;  ///< of the finite numbers below it; none: low > high
    bool some_unknown = true;  ///< below it
  };
  using Around = std::array<Index, 8>;  ///< nodes on the sides of an element; see LeafTree::descend
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
  std::vector<Node> nodes_;     ///< of leaves and parents
  Index top_ = 0;
};

}  // namespace sidestream
