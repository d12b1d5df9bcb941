// Rectilinear meshes that no call declares as a whole, assembled from the axes of their blocks.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "sidestream/data/mesh.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Positions of one block's nodes along each axis.
struct BlockAxes {
  std::string mesh;
  int dimensions = 0;
  Box cells;                                   ///< cells of the block
  std::array<std::vector<double>, 3> nodes{};  ///< along each axis of the mesh, one more than cells
};

/// Throws Error(usage) unless the cells have indices of at least 0, each has its nodes, and these increase.
void check_axes(const BlockAxes& axes);

/// Returns the meshes of all clients' blocks, in the same order on all clients. Collective over the clients, each with
/// its own blocks, which must have passed check_axes. If several blocks give a node, its lowest position counts.
/// Positions may differ by 1e-6 of the distance to the next node, as sums in different order do. Throws the same
/// Error(usage) on all clients if blocks contradict each other or a node is missing. Memory and messages are those of
/// the axes of whole meshes, as for any mesh with axes.
[[nodiscard]] std::vector<Mesh> meshes_of(std::span<const BlockAxes> mine, Communicator& clients);

}  // namespace sidestream
