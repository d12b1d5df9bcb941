// Points that several blocks share: which copy counts, by the simulation's global numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Collective. `ids`: this server's blocks of an array of integers, one for each point. Returns, for each view, a flag
/// for each of its points in the order of the array. The flag is 0 for the first point with its number in the block of
/// lowest id, over all servers; it is 1 for others, and for all points of a copy. Each server decides on its share of
/// the numbers.
[[nodiscard]] std::vector<std::vector<std::uint8_t>> flag_shared(std::span<const BlockView> ids, Communicator& servers);

// Detection of tree leaves that more than one block owns.

/// Deeper leaves are counted on the last level.
inline constexpr std::size_t most_tree_levels = 64;

/// Adds to `leaves`, a count for each level, the cells of a block that count. `starts`: of its levels (level_starts);
/// `flags`: 0 for cells that count.
void count_leaves(std::span<const Index> starts, std::span<const std::uint8_t> flags, std::span<std::int64_t> leaves);

/// Volume of all leaves minus the volume of the mesh, in volumes of the mesh: 0 if each place belongs to at most one
/// block. Exact to the smallest leaf. A place that two blocks own may be balanced by one that none owns.
[[nodiscard]] double excess_of_leaves(const Mesh& mesh, std::span<const std::int64_t> leaves);

}  // namespace sidestream
