// Surfaces between blocks: the corners round which leaves of several blocks lie.
//
// Each block gives the leaves of its rim. Servers deal them out by where they are (in the order of a Morton curve, in
// equal shares), each to the servers in whose part of the curve its corners lie, so that a corner has all leaves round
// it on the one server that looks after it. What is sent grows with the blocks' rims, and goes to neighbours on the
// curve.
#pragma once

#include <span>
#include <vector>

#include "mesh/amr/lattice.hpp"
#include "mesh/amr/leaf_set.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// The rim of one block.
struct BlockRim {
  std::int64_t block = 0;
  LeafSet leaves;
};

[[nodiscard]] Bytes to_bytes(std::span<const BlockRim> rims);
[[nodiscard]] std::vector<BlockRim> to_rims(BytesView bytes);

/// Leaves of several blocks, and dual cells of which this server alone is to make a surface.
struct Seams {
  LeafSet leaves;
  std::vector<DualCell> duals;
};

/// Collective: of the rims of all servers' blocks. Each has `width` columns. The same dual cells over all servers,
/// however rims are divided among them.
[[nodiscard]] Seams join_rims(const Lattice& lattice, std::span<const BlockRim> rims, std::size_t width,
                              std::span<const double> values, Communicator& servers);

}  // namespace sidestream
