// The counting cells of one block, a tree or a patch, and the places where surfaces may pass between them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "mesh/amr/lattice.hpp"
#include "mesh/amr/leaf_set.hpp"
#include "mesh/cell_choice.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream {

/// The numbers that are wanted of a block: a component of a variable, and all components of others. They lie in cells;
/// for patches also at nodes, where a cell has the mean of its corners.
struct LeafColumns {
  std::int32_t variable = -1;
  int component = 0;
  std::vector<std::int32_t> fields;
  CellChoice choice{};  ///< cells that are not chosen are treated as absent
};

/// The parts of a surface that are known from one block.
struct BlockLeaves {
  LeafSet leaves;               ///< for a tree all its cells, fathers included, in the order of the block
  std::vector<DualCell> duals;  ///< dual cells of leaves of the block, around corners that only they touch and that one
                                ///< of the values passes
  std::vector<std::size_t> rim;  ///< leaves around corners that leaves of other blocks, or none, touch too; ascending
};

/// Finds them. Returns nothing if the block has no cells or the flags that say which of them count are missing. Throws
/// Error(usage) if the flags of a tree are wrong, Error(analysis) if it is too deep for the lattice.
[[nodiscard]] std::optional<BlockLeaves> find_leaves(const Lattice& lattice, const LocalInput& input,
                                                     const BlockView& view, const LeafColumns& columns,
                                                     std::span<const double> values);

/// The leaves of a rim, in their order.
[[nodiscard]] LeafSet rim_of(const BlockLeaves& block);

}  // namespace sidestream
