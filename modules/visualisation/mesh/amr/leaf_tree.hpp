// A tree over leaves of several levels, to find the corners at which they meet.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sidestream/kit/mesh/lattice.hpp"
#include "visualisation/mesh/amr/leaf_set.hpp"

namespace sidestream {

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
