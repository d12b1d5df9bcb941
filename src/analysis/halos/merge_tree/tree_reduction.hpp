// Trees of boxes joined so that every server gets what its own cells need, and no more.
#pragma once

#include <vector>

#include "analysis/halos/merge_tree/tree.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::halos {

/// Maxima of boxes that meet at a cell, and the servers that have those boxes. Travels.
struct MetEdge {
  TreeEdge edge;
  std::int32_t owner_a = 0, owner_b = 0;
};

/// Collective. The triplets that this server's maxima may lead to. `own`: edges between maxima of one box each, of this
/// server; `met`: those found here between boxes, of whatever servers.
///
/// Groups of servers grow by pairs. What a group knows of a maximum is final if its component has no edge out of the
/// group above its saddle: then its triplet stays, and edges take the maxima that go on in its place. Only edges
/// between others, and those out of the group, go on to the next larger one: so what reaches the borders of groups, not
/// that of blocks, is what a server holds. On the way back each half of a group gets the triplets to which its maxima
/// lead. This is the sparsified reduction of Morozov and Weber, "Distributed merge trees" (2013).
[[nodiscard]] std::vector<Triplet> reduce_trees(const std::vector<TreeEdge>& own, const std::vector<MetEdge>& met,
                                                Communicator& servers);

}  // namespace sidestream::halos
