// Joining of the trees of boxes.
#pragma once

#include <vector>

#include "cosmology/halos/merge_tree/block_tree.hpp"
#include "cosmology/halos/merge_tree/tree_reduction.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::halos {

/// Collective: finds edges between maxima where border cells of different boxes are neighbours, on any servers. Returns
/// those, for the rows that this server keeps, in their maximum spanning forest.
[[nodiscard]] std::vector<MetEdge> meet_at_borders(std::vector<BorderCell> border, const Lattice& lattice,
                                                   const std::vector<RowStep>& steps, Communicator& servers);

/// Collective: returns the triplets of all maxima that reach a border of their box, the same on all servers. Forests
/// are merged pairwise and reduced each time, so that no server holds more than the result. It serves placements in
/// which the servers that join trees do not have the cells.
[[nodiscard]] std::vector<Triplet> join_forests(std::vector<TreeEdge> mine, Communicator& servers);

}  // namespace sidestream::halos
