// Neighbours of blocks on meshes with cells of several levels.
#pragma once

#include <span>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/data/range.hpp"

namespace sidestream {

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

/// The common range of each block and all blocks that touch it, on any level. No other values occur in cells between
/// the centres of neighbours. Patches touch if cells of both touch and finer levels do not cover these cells. So all
/// patches that cover them must be among `blocks`, with or without ranges. Trees touch if their bounds do; a tree with
/// unknown bounds touches all. `ranges` has one entry per block. If a range was not delivered or belongs to another
/// mesh, the entry is null and its result empty.
[[nodiscard]] std::vector<Range> ranges_with_touching(const Mesh& mesh, std::span<const Block> blocks,
                                                      std::span<const BlockRange* const> ranges);

}  // namespace sidestream
