// Neighbours of blocks on meshes with cells of several levels.
#pragma once

#include <span>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/data/range.hpp"

namespace sidestream {

/// True if surfaces between blocks of a mesh are decided by touching blocks: on trees and levels, also for variables at
/// nodes, which are first averaged to the cells.
[[nodiscard]] inline bool meets_other_levels(const Mesh& mesh) noexcept {
  return mesh.kind() == MeshKind::octree || !mesh.refinement.empty();
}

/// True if two blocks have a point in common, whatever finer levels cover. For trees: if their bounds do, or those of
/// one are unknown.
[[nodiscard]] bool may_touch(const Mesh& mesh, const Block& a, const Block& b);

/// Cells of a declared level that include all cells that touch a patch.
[[nodiscard]] Box reach_on(const Mesh& mesh, const Block& block, std::int32_t level);

/// The common range of each block and all blocks that touch it, on any level: in cells between the centres of
/// neighbours no other values occur. Patches touch where cells of both do that finer levels do not cover. So all
/// patches that cover those must be among `blocks`, with or without ranges. Trees touch where their bounds do; those
/// with unknown bounds touch all. `ranges` has one entry per block, null where it was not delivered or belongs to
/// another mesh; for those the result is empty.
[[nodiscard]] std::vector<Range> ranges_with_touching(const Mesh& mesh, std::span<const Block> blocks,
                                                      std::span<const BlockRange* const> ranges);

}  // namespace sidestream
