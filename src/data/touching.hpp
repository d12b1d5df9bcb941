// What is next to blocks of meshes whose cells are of several levels.
#pragma once

#include <span>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/data/range.hpp"

namespace sidestream {

/// For each block what it and all blocks that touch it, on any level, have together: in cells between the centres of
/// neighbours nothing else occurs. Of trees those touch whose bounds do, and those whose bounds are not known touch
/// all. `ranges`: of each block, null where it was not delivered or is of another mesh; of those the result is empty.
[[nodiscard]] std::vector<Range> ranges_with_touching(const Mesh& mesh, std::span<const Block> blocks,
                                                      std::span<const BlockRange* const> ranges);

}  // namespace sidestream
