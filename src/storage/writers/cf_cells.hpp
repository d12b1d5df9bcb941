// Cells of unstructured meshes as UGRID has them: the corners of each cell in a row.
#pragma once

#include <cstdint>
#include <vector>

#include "sidestream/extend/task.hpp"
#include "storage/writers/cf_layout.hpp"

namespace sidestream {

/// The lists of a block, as all servers know it.
struct CfBlock {
  std::int64_t id = 0;
  std::int32_t mesh = -1;
  std::int32_t dimensions = 0;        ///< of its cells: 1 edges, 2 faces, 3 volumes; 0 without cells
  Index points = 0, cells = 0;        ///< lengths of its lists
  Index most = 0, least = INT64_MAX;  ///< corners of a cell
};

/// Looks at the cells of a block, if their arrays came. Throws Error(analysis) if they contradict each other, or for
/// cells that UGRID does not have.
void scan_cells(const LocalInput& input, const Mesh& mesh, CfBlock& block);

/// The corners of the cells of a block in rows of `width`, counted from `first`, filled up with -1; empty if the arrays
/// did not come. Expects that scan_cells accepted the block.
[[nodiscard]] std::vector<std::int32_t> rows_of_cells(const LocalInput& input, const Mesh& mesh, std::int64_t block,
                                                      Index width, Index first);

}  // namespace sidestream
