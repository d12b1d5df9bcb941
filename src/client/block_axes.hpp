// Rectilinear meshes that nobody declares as a whole: put together from what each block says of its own part.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "sidestream/data/mesh.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Where the nodes of one block are along each axis.
struct BlockAxes {
  std::string mesh;
  int dimensions = 0;
  Box cells;                                   ///< of the block
  std::array<std::vector<double>, 3> nodes{};  ///< along each axis that the mesh uses one more than cells
};

/// Throws Error(usage) unless the cells begin at 0 or beyond, there are nodes for each, and these increase.
void check_axes(const BlockAxes& axes);

/// The meshes of which some client has a block, in one order on all of them. Collective over the clients, each with its
/// own blocks, which check_axes has passed. Of a node that several blocks give, the lowest position counts: they may
/// differ by 1e-6 of the distance to the next node, as sums in another order do. Throws Error(usage), on all clients
/// alike, if blocks say different things or a node is missing. Costs memory and messages for the axes of whole meshes,
/// as a mesh with axes does anywhere.
[[nodiscard]] std::vector<Mesh> meshes_of(std::span<const BlockAxes> mine, Communicator& clients);

}  // namespace sidestream
