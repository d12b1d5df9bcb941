// Queries of a merge tree, which every server answers for its own cells.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "cosmology/halos/finder/halo_options.hpp"
#include "cosmology/halos/merge_tree/block_tree.hpp"

namespace sidestream::halos {

/// A server's part of the tree: its boxes, and all triplets that any of their cells may lead to. No answer needs
/// another server.
struct ServerTree {
  std::vector<BlockTree> boxes;
  std::vector<std::size_t> views;  ///< by box: index of its block's view
  TripletMap triplets;
};

/// A branch of the whole tree: a maximum, and the saddle at which it meets a higher one; saddle.id -1: it is the
/// highest of its connected component. Trivially copyable; sent between servers.
struct Branch {
  ValuedCell top, saddle;
  Index into = -1;
};

/// Persistence of a branch with maximum `birth` and saddle `death`: 0 if both are the same infinity.
[[nodiscard]] inline double persistence(double birth, double death) noexcept {
  return birth == death ? 0 : birth - death;
}

/// Branches that begin in this server's boxes and have at least that persistence.
[[nodiscard]] std::vector<Branch> branches_of(const ServerTree& tree, double least);

/// A halo found by a query of thresholds. Sent between servers with its mass as an exact sum.
struct TreeHalo {
  ValuedCell top;
  Index cells = 0;
  ExactSum mass;
};

/// This server's part of each halo for given thresholds: components >= boundary with a maximum >= peak.
[[nodiscard]] std::vector<TreeHalo> halos_above(const ServerTree& tree, std::span<const BlockView> views,
                                                const Lattice& lattice, int component, double boundary, double peak);

/// A cell, and the maximum of its component at its own level. Trivially copyable; sent between servers.
struct KeptCell {
  ValuedCell cell;
  Index top = -1;
};
/// This server's cells >= `above`.
[[nodiscard]] std::vector<KeptCell> cells_above(const ServerTree& tree, std::span<const BlockView> views,
                                                const Lattice& lattice, int component, double above);

/// Path from a cell down the tree: the successive highest maxima of its component, and the cells at which each begins.
struct WayDown {
  std::vector<ValuedCell> tops, from;  ///< from[0] is the cell itself, the others are saddles
};
/// Empty if the cell is not on this server, or is NaN.
[[nodiscard]] WayDown way_down(const ServerTree& tree, std::span<const BlockView> views, const Lattice& lattice,
                               int component, const Index3& point);

/// The highest level at which two paths meet; id -1: never.
[[nodiscard]] ValuedCell meeting_of(const WayDown& a, const WayDown& b);

}  // namespace sidestream::halos
