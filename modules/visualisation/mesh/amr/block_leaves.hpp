// Leaves of one block, a tree or a patch, and the dual cells between them, where surfaces may pass.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "sidestream/kit/mesh/cell_choice.hpp"
#include "sidestream/kit/mesh/lattice.hpp"
#include "visualisation/mesh/amr/leaf_tree.hpp"

namespace sidestream {

/// The numbers to read of a block: one component of a variable, and all components of others. The numbers lie in cells.
/// In patches they may also lie at nodes; then a cell has the mean of its corners.
struct LeafColumns {
  std::int32_t variable = -1;
  int component = 0;
  std::vector<std::int32_t> fields;
  CellChoice choice{};  ///< other cells count as absent
};

/// The part of a surface that follows from one block.
struct BlockLeaves {
  LeafSet leaves;  ///< for a tree: all its cells, including parents, in the order of the block
  std::vector<DualCell>
      duals;  ///< around corners that only leaves of this block touch; a contour value lies between these leaves
  std::vector<std::size_t> rim;  ///< leaves at corners that leaves of other blocks, or unknown ones, may touch too;
                                 ///< ascending
};

/// Finds the leaves of a block. Nothing if it has no cells, or if its flags are missing. Throws Error(usage) if the
/// flags of a tree are wrong, and Error(analysis) if it is too deep for the lattice.
[[nodiscard]] std::optional<BlockLeaves> find_leaves(const Lattice& lattice, const LocalInput& input,
                                                     const BlockView& view, const LeafColumns& columns,
                                                     std::span<const double> values);

/// Only the leaves of the rim, in their order.
[[nodiscard]] LeafSet rim_of(const BlockLeaves& block);

}  // namespace sidestream
