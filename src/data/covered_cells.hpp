// Cells that finer levels cover.
#pragma once

#include <span>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/selection.hpp"
#include "sidestream/kit/data/block_index.hpp"

namespace sidestream {

/// The cells of the block's level that blocks of finer levels cover completely, as disjoint boxes. They lie in the
/// block and one layer around it. `blocks` are all blocks of the mesh, from which `index` was made.
[[nodiscard]] std::vector<Box> covered_cells(const Mesh& mesh, const Block& block, std::span<const Block> blocks,
                                             const BlockIndex& index);

/// A cell that finer blocks cover in part although a coarser block also has it. The covered part counts twice.
struct CoveredInPart {
  std::int32_t mesh = 0;
  Index3 cell{};
  std::int64_t coarse = 0, fine = 0;  ///< ids of blocks
  std::int32_t coarse_level = 0, fine_level = 0;
};
/// Finds one such cell for each mesh that has any, in the order of meshes. There is none if blocks begin and end at
/// faces of coarser cells, as in most codes; then nothing is searched.
[[nodiscard]] std::vector<CoveredInPart> covered_in_part(const Metadata& metadata, std::span<const Block> blocks,
                                                         const BlockIndex& index);

/// True for each block that finer levels cover completely; empty if there is none. `blocks` are all blocks of all
/// meshes, from which `index` was made.
[[nodiscard]] std::vector<bool> wholly_covered(const Metadata& metadata, std::span<const Block> blocks,
                                               const BlockIndex& index);
/// Removes covered blocks from `needed`, which has an entry for each block, if the selection can do without them.
void leave_out_covered(const Selected& selected, const std::vector<bool>& covered, std::vector<bool>& needed);

// Positions of blocks on finer levels.

/// Cells of the coarsest level that cover a block on a finer one. They also cover `more` layers of the block's own
/// cells beyond its upper sides, because only nodes of the coarsest level have known positions. Returns the whole mesh
/// if the refinement is not declared.
[[nodiscard]] Box covering(const Mesh& mesh, const Block& block, Index more);

}  // namespace sidestream
