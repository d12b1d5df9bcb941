// Surfaces between blocks: the corners around which leaves of several blocks lie.
//
// Each block gives the leaves of its rim. Servers redistribute them by position, in equal shares of a Morton curve:
// each leaf goes to the servers in whose share its corners lie, so that the server that owns a corner has all leaves
// around it. The amount of data grows with the blocks' rims, and goes to neighbours on the curve.
#pragma once

#include <span>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/mesh/lattice.hpp"
#include "visualisation/mesh/amr/leaf_set.hpp"

namespace sidestream {

/// The rim of one block.
struct BlockRim {
  std::int64_t block = 0;
  LeafSet leaves;
};

[[nodiscard]] Bytes to_bytes(std::span<const BlockRim> rims);
[[nodiscard]] std::vector<BlockRim> to_rims(BytesView bytes);

/// Leaves of several blocks, and the dual cells between them that only this server contours.
struct Seams {
  LeafSet leaves;
  std::vector<DualCell> duals;
};

/// Joins the rims of all servers' blocks. Collective. Each has `width` columns. The dual cells over all servers are the
/// same however rims are divided among them.
[[nodiscard]] Seams join_rims(const Lattice& lattice, std::span<const BlockRim> rims, std::size_t width,
                              std::span<const double> values, Communicator& servers);

}  // namespace sidestream
