// Blocks with all cells and blocks with joined cells as one set of cells.
#pragma once

#include <string>
#include <vector>

#include "sidestream/data/mesh.hpp"
#include "sidestream/data/result.hpp"
#include "visualisation/relevance/thinned_block.hpp"

namespace sidestream {

/// Names of the cell data besides the variable.
inline constexpr const char* mixed_block_name = "block";
inline constexpr const char* mixed_joined_name = "joined";

/// The cells in the order of the blocks and of their boxes, with the variable's values, the id of the block, and the
/// number of cells of the mesh that each stands for. Points are in the order of their numbers in the mesh, each once.
[[nodiscard]] CellSet mixed_cells(const std::vector<ThinnedCells>& blocks, const Mesh& mesh, const std::string& name);

}  // namespace sidestream
