// Cells of unstructured meshes in UGRID's form: a row of corners for each cell.
#pragma once

#include <cstdint>
#include <vector>

#include "climate/cf/cf_layout.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream {

/// The lists of a block, known to all servers.
struct CfBlock {
  std::int64_t id = 0;
  std::int32_t mesh = -1;
  std::int32_t dimensions = 0;        ///< dimensions of its cells: 1 edges, 2 faces, 3 volumes; 0 without cells
  Index points = 0, cells = 0;        ///< lengths of its lists
  Index most = 0, least = INT64_MAX;  ///< extremes of the number of corners of a cell
};

/// Determines the members of `block` from its cells, if their arrays were delivered. Throws Error(analysis) if they
/// contradict each other, or for cells that UGRID lacks.
void scan_cells(const LocalInput& input, const Mesh& mesh, CfBlock& block);

/// The corners of a block's cells in rows of `width`, counted from `first` and padded with -1. Empty if the arrays were
/// not delivered. Expects that scan_cells accepted the block.
[[nodiscard]] std::vector<std::int32_t> rows_of_cells(const LocalInput& input, const Mesh& mesh, std::int64_t block,
                                                      Index width, Index first);

}  // namespace sidestream
