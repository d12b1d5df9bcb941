// What finer levels cover.
#pragma once

#include <span>
#include <vector>

#include "data/block_index.hpp"
#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/selection.hpp"

namespace sidestream {

/// The cells of the block's level, in the block and one layer round it, that blocks of finer levels cover whole:
/// disjoint boxes. `blocks`: all of the mesh, of which `index` was made.
[[nodiscard]] std::vector<Box> covered_cells(const Mesh& mesh, const Block& block, std::span<const Block> blocks,
                                             const BlockIndex& index);

/// A cell that finer blocks cover in part, and that a block has all the same: what is there counts twice.
struct CoveredInPart {
  std::int32_t mesh = 0;
  Index3 cell{};
  std::int64_t coarse = 0, fine = 0;  ///< ids of blocks
  std::int32_t coarse_level = 0, fine_level = 0;
};
/// One for each mesh that has any, in the order of meshes. Of blocks that begin and end at faces of coarser cells, as
/// those of most codes do, there is none, and nothing is looked for.
[[nodiscard]] std::vector<CoveredInPart> covered_in_part(const Metadata& metadata, std::span<const Block> blocks,
                                                         const BlockIndex& index);

/// Which blocks finer levels cover whole, of all blocks of all meshes, of which `index` was made; empty if none is.
[[nodiscard]] std::vector<bool> wholly_covered(const Metadata& metadata, std::span<const Block> blocks,
                                               const BlockIndex& index);
/// Takes those off `needed`, which has an entry for each block, if what is selected can do without them.
void leave_out_covered(const Selected& selected, const std::vector<bool>& covered, std::vector<bool>& needed);

// Where blocks on finer levels are.

/// Cells of the coarsest level that cover a block on a finer one, and `more` layers of the block's own cells beyond its
/// upper sides: positions are known of nodes of the coarsest level only. The whole mesh if the refinement is not
/// declared.
[[nodiscard]] Box covering(const Mesh& mesh, const Block& block, Index more);

}  // namespace sidestream
