// Points that several blocks have: which of them count, by the numbers that the simulation gives them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// `ids`: this server's blocks of an array of whole numbers, one for each point. For each view a flag for each of its
/// points in the order of the array: 0 for the first point of that number in the block of lowest id that has it, over
/// all servers; 1 for others, and for all of a copy. Collective. Each server decides about its share of the numbers.
[[nodiscard]] std::vector<std::vector<std::uint8_t>> flag_shared(std::span<const BlockView> ids, Communicator& servers);

// Whether leaves of trees are owned by more than one block.

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
