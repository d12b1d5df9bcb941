// The cells of one block of a tree: its leaves.
#pragma once

#include <memory>

#include "mesh/cells/block_cells.hpp"

namespace sidestream {

/// The leaves that the block of a view owns, as cells on axes. A corner that cells of several levels share is one
/// point. Points and cells are named by their position in the whole mesh, level after level. Null if the flags of its
/// tree are missing. Keeps references. Throws Error(usage) as tree_cells does.
[[nodiscard]] std::unique_ptr<BlockCells> leaves_of_block(const LocalInput& input, const Mesh& mesh,
                                                          const BlockView& view);

}  // namespace sidestream
