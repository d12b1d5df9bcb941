// Whether leaves of trees are owned by more than one block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"

namespace sidestream {

/// Deeper leaves than this are counted on the last level.
inline constexpr std::size_t most_tree_levels = 64;

/// Adds to `leaves`, a number for each level, how many cells of a block count. `starts`: of its levels (level_starts);
/// `flags`: 0 for cells that count.
void count_leaves(std::span<const Index> starts, std::span<const std::uint8_t> flags, std::span<std::int64_t> leaves);

/// By how much the leaves of all blocks have more volume than the mesh, in volumes of the mesh: 0 if each place belongs
/// to one block, or to none. Exact to the least leaf: a place that two blocks own and one that none does may make up
/// for each other.
[[nodiscard]] double excess_of_leaves(const Mesh& mesh, std::span<const std::int64_t> leaves);

}  // namespace sidestream
