// The cells that count of one block, be it a tree or a patch, and where surfaces may pass between them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "mesh/amr/lattice.hpp"
#include "mesh/amr/leaf_set.hpp"
#include "mesh/cell_choice.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream {

/// Which numbers are wanted of a block: a component of a variable, and all components of others. They lie in cells; of
/// patches also at nodes, of which a cell has the mean of its corners.
struct LeafColumns {
  std::int32_t variable = -1;
  int component = 0;
  std::vector<std::int32_t> fields;
  CellChoice choice{};  ///< other cells are as if they were not there
};

/// What is known of a surface from one block alone.
struct BlockLeaves {
  LeafSet leaves;  ///< of a tree all its cells, parents included, in the order of the block
  std::vector<DualCell>
      duals;  ///< of leaves of the block, round corners that only they touch; one of the values passes
  std::vector<std::size_t> rim;  ///< leaves round corners where leaves of other blocks, or none, are too; ascending
};

/// Nothing if the block has no cells or what says which of them count is not here. Throws Error(usage) if the flags of
/// a tree are wrong, Error(analysis) if it is too deep for the lattice.
[[nodiscard]] std::optional<BlockLeaves> find_leaves(const Lattice& lattice, const LocalInput& input,
                                                     const BlockView& view, const LeafColumns& columns,
                                                     std::span<const double> values);

/// The leaves of a rim alone, in their order.
[[nodiscard]] LeafSet rim_of(const BlockLeaves& block);

}  // namespace sidestream
