// Blocks on several levels: the cells that finer blocks cover, and the blocks that touch.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/range.hpp"
#include "sidestream/data/selection.hpp"
#include "sidestream/kit/data/block_index.hpp"

namespace sidestream {

/// The quotient, rounded down; `b` > 0.
[[nodiscard]] constexpr Index floor_divided(Index a, Index b) noexcept { return a / b - (a % b < 0 ? 1 : 0); }

/// The cells of the block's level that blocks of finer levels cover completely, as disjoint boxes, in the block and one
/// layer around it. `blocks`: all blocks of the mesh; `index`: made from them.
[[nodiscard]] std::vector<Box> covered_cells(const Mesh& mesh, const Block& block, std::span<const Block> blocks,
                                             const BlockIndex& index);

/// A cell that finer blocks cover in part although a coarser block also has it. The covered part counts twice.
struct CoveredInPart {
  std::int32_t mesh = 0;
  Index3 cell{};
  std::int64_t coarse = 0, fine = 0;  ///< ids of blocks
  std::int32_t coarse_level = 0, fine_level = 0;
};
/// Finds such a cell for each mesh that has any, in the order of meshes. There is none if blocks begin and end at faces
/// of coarser cells, as in most codes; then nothing is searched.
[[nodiscard]] std::vector<CoveredInPart> covered_in_part(const Metadata& metadata, std::span<const Block> blocks,
                                                         const BlockIndex& index);

/// True for each block that finer levels cover completely; empty if there is none. `blocks`: all blocks of all meshes;
/// `index`: made from them.
[[nodiscard]] std::vector<bool> wholly_covered(const Metadata& metadata, std::span<const Block> blocks,
                                               const BlockIndex& index);
/// Removes covered blocks from `needed`, which has an entry for each block, if the selection does not need them.
void leave_out_covered(const Selected& selected, const std::vector<bool>& covered, std::vector<bool>& needed);

// Positions of blocks on finer levels.

/// Cells of the coarsest level that cover a block on a finer one. They also cover `more` layers of the block's own
/// cells beyond its upper sides, because only nodes of the coarsest level have known positions. Returns the whole mesh
/// if the refinement is not declared.
[[nodiscard]] Box covering(const Mesh& mesh, const Block& block, Index more);

// Neighbours of blocks on meshes with cells of several levels.

/// True if surfaces between blocks of a mesh depend on touching blocks. This holds on trees and levels, also for
/// variables at nodes, which are first averaged to the cells.
[[nodiscard]] inline bool meets_other_levels(const Mesh& mesh) noexcept {
  return mesh.kind() == MeshKind::octree || !mesh.refinement.empty();
}

/// True if two blocks have a point in common, even if finer levels cover it. For trees: true if their bounds have one,
/// or if a tree's bounds are unknown.
[[nodiscard]] bool may_touch(const Mesh& mesh, const Block& a, const Block& b);

/// Cells of a declared level that include all cells that touch a patch.
[[nodiscard]] Box reach_on(const Mesh& mesh, const Block& block, std::int32_t level);

/// The common range of each block and all blocks that touch it, on any level. Cells between the centres of neighbours
/// have no other values. Patches touch if cells of both touch and finer levels do not cover these cells; so all patches
/// that cover them must be among `blocks`, with or without ranges. Trees touch if their bounds do; a tree with unknown
/// bounds touches all. `ranges` has one entry per block. If a range was not delivered or belongs to another mesh, the
/// entry is null and its result empty.
[[nodiscard]] std::vector<Range> ranges_with_touching(const Mesh& mesh, std::span<const Block> blocks,
                                                      std::span<const BlockRange* const> ranges);
/// Does the same for trees, also where a tree's range covers only its leaves. A tree without a range was not delivered.
[[nodiscard]] std::vector<Range> ranges_of_touching_trees(std::span<const Block> blocks,
                                                          std::span<const std::optional<Range>> ranges);

}  // namespace sidestream
