// Joining of the trees of boxes, so that every server gets all triplets, or only the triplets for its own cells.
#pragma once

#include <vector>

#include "cosmology/halos/merge_tree/block_tree.hpp"
#include "cosmology/halos/merge_tree/tree.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::halos {

/// Maxima of boxes that meet at a cell, and the servers of those boxes. Trivially copyable; sent between servers.
struct ServerEdge {
  TreeEdge edge;
  std::int32_t owner_a = 0, owner_b = 0;
};

/// Edges, reduced to their maximum spanning forest whenever there are many.
class SpanningForest {
 public:
  void add(const ServerEdge& edge);
  [[nodiscard]] std::vector<ServerEdge> take();

 private:
  static constexpr std::size_t least = std::size_t{1} << 12;  // a quarter of a megabyte
  std::vector<ServerEdge> edges_;
  std::size_t most_ = least;
};

/// Finds edges between maxima where border cells of different boxes are neighbours, on any servers. Collective. Returns
/// the edges for the rows that this server keeps, reduced to their maximum spanning forest.
[[nodiscard]] std::vector<ServerEdge> border_edges(std::vector<BorderCell> border, const Lattice& lattice,
                                                   const std::vector<RowStep>& steps, Communicator& servers);

/// Returns the triplets to which this server's maxima may lead. Collective. `own`: edges between maxima of the same box
/// of this server; `met`: edges between boxes of any servers, found on this server.
///
/// Groups of servers grow by pairs. The triplet of a maximum is final if its component has no edge out of the group
/// above its saddle. Edges are then redirected to the maxima that continue. Only edges between these maxima, and edges
/// out of the group, are passed to the next larger group. So a server only holds maxima that reach the borders of
/// groups, not all that reach borders of blocks. On the way back each half of a group gets the triplets to which its
/// maxima lead. This is the sparsified reduction of Morozov and Weber, "Distributed merge trees" (2013).
[[nodiscard]] std::vector<Triplet> reduce_trees(const std::vector<TreeEdge>& own, const std::vector<ServerEdge>& met,
                                                Communicator& servers);

/// Returns the triplets of all maxima that reach a border of their box, the same on all servers. Collective. Forests
/// are merged pairwise and reduced each time, so that no server holds more than the result. Used if the servers that
/// join trees do not have the cells.
[[nodiscard]] std::vector<Triplet> join_forests(std::vector<TreeEdge> mine, Communicator& servers);

}  // namespace sidestream::halos
