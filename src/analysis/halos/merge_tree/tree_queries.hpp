// Questions to a merge tree, each answered by every server for what it has.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "analysis/halos/finder/halo_options.hpp"
#include "analysis/halos/merge_tree/block_tree.hpp"

namespace sidestream::halos {

/// What a server has of the whole tree after it is built: its boxes, and all triplets that any of their cells may lead
/// to. No answer needs another server.
struct ServerTree {
  std::vector<BlockTree> boxes;
  std::vector<std::size_t> views;  ///< of each box: its block's place among the views
  TripletMap triplets;
};

/// A branch of the whole tree: a maximum, and the saddle at which it meets an elder one; saddle.id -1: it is the eldest
/// of what hangs together. Travels.
struct Branch {
  ValuedCell top, saddle;
  Index into = -1;
};

/// Of a branch whose maximum is `birth` and whose saddle is `death`: 0 where both are the same infinity.
[[nodiscard]] inline double persistence(double birth, double death) noexcept {
  return birth == death ? 0 : birth - death;
}

/// The branches that begin in this server's boxes with at least that difference between maximum and saddle.
[[nodiscard]] std::vector<Branch> branches_of(const ServerTree& tree, double least);

/// A halo as a query of thresholds finds it. Travels with its mass as an exact sum.
struct TreeHalo {
  ValuedCell top;
  Index cells = 0;
  ExactSum mass;
};

/// What this server has of each halo for some thresholds: components >= boundary with a maximum >= peak.
[[nodiscard]] std::vector<TreeHalo> halos_above(const ServerTree& tree, std::span<const BlockView> views,
                                                const Lattice& lattice, int component, double boundary, double peak);

/// A cell, and the maximum that its component has at its own level. Travels.
struct KeptCell {
  ValuedCell cell;
  Index top = -1;
};
/// This server's cells >= `above`.
[[nodiscard]] std::vector<KeptCell> cells_above(const ServerTree& tree, std::span<const BlockView> views,
                                                const Lattice& lattice, int component, double above);

/// The way from a cell down the tree: what is the eldest maximum from which level on.
struct WayDown {
  std::vector<ValuedCell> tops, from;  ///< from[0] is the cell itself, the others are saddles
};
/// Empty if the cell is not here, or NaN.
[[nodiscard]] WayDown way_down(const ServerTree& tree, std::span<const BlockView> views, const Lattice& lattice,
                               int component, const Index3& point);

/// The highest level at which two ways meet; id -1: never.
[[nodiscard]] ValuedCell meeting_of(const WayDown& a, const WayDown& b);

}  // namespace sidestream::halos
