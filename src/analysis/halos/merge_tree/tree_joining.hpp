// From the trees of boxes to what all servers know of the whole.
#pragma once

#include <vector>

#include "analysis/halos/merge_tree/block_tree.hpp"
#include "analysis/halos/merge_tree/tree_reduction.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::halos {

/// Collective. Where the border cells of boxes are neighbours, on whatever servers, their maxima meet: those edges, of
/// the rows that this server keeps, that are in their highest spanning forest.
[[nodiscard]] std::vector<MetEdge> meet_at_borders(std::vector<BorderCell> border, const Lattice& lattice,
                                                   const std::vector<RowStep>& steps, Communicator& servers);

/// Collective. The triplets of all maxima that reach a border of their box, the same on all servers: forests are joined
/// pair by pair, and thinned out each time, so that nobody has more than that. For placements in which others than
/// those that join trees have the cells.
[[nodiscard]] std::vector<Triplet> join_forests(std::vector<TreeEdge> mine, Communicator& servers);

}  // namespace sidestream::halos
