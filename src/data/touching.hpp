// What is next to blocks of meshes whose cells are of several levels.
#pragma once

#include <span>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/data/range.hpp"

namespace sidestream {

/// Whether surfaces between blocks of a mesh are decided so: those on trees and levels, also of variables at nodes,
/// which are taken to the cells first.
[[nodiscard]] inline bool meets_other_levels(const Mesh& mesh) noexcept {
  return mesh.kind() == MeshKind::octree || !mesh.refinement.empty();
}

/// Whether two blocks have a point in common, whatever finer levels cover. Of trees: whether their bounds do, or are
/// not known of one.
[[nodiscard]] bool may_touch(const Mesh& mesh, const Block& a, const Block& b);

/// The cells of a level, which is declared as that of the block is, among which are all that touch a patch.
[[nodiscard]] Box reach_on(const Mesh& mesh, const Block& block, std::int32_t level);

/// For each block what it and all blocks that touch it, on any level, have together: in cells between the centres of
/// neighbours nothing else occurs. Patches touch where cells of both that finer levels do not cover do, so all patches
/// that cover those must be among `blocks`, with or without ranges. Of trees those touch whose bounds do, and those
/// whose bounds are not known touch all. `ranges`: of each block, null where it was not delivered or is of another
/// mesh; of those the result is empty.
[[nodiscard]] std::vector<Range> ranges_with_touching(const Mesh& mesh, std::span<const Block> blocks,
                                                      std::span<const BlockRange* const> ranges);

}  // namespace sidestream
