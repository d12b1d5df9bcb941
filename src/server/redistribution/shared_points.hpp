// Points that several blocks share: the simulation's global numbers determine which copy counts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Flags the copies of shared points that do not count. `ids`: this server's blocks of an array of integers, one for
/// each point. Returns, for each view, a flag for each of its points in the order of the array. The flag is 0 for the
/// first point with its number in the block of lowest id, over all servers; it is 1 for other points, and for all
/// points of a copy. Each server decides on its share of the numbers. Collective.
[[nodiscard]] std::vector<std::vector<std::uint8_t>> flag_shared(std::span<const BlockView> ids, Communicator& servers);

// Detection of tree leaves that more than one block owns.

/// Deeper leaves are counted on the last level.
inline constexpr std::size_t most_tree_levels = 64;

/// Adds the cells of a block that count to `leaves`, a count for each level. `starts`: starts of the block's levels
/// (level_starts); `flags`: 0 for cells that count.
void count_leaves(std::span<const Index> starts, std::span<const std::uint8_t> flags, std::span<std::int64_t> leaves);

/// Volume of all leaves minus the volume of the mesh, in units of the mesh's volume: 0 if each place belongs to exactly
/// one block. Exact to the smallest leaf. A place with two owners may be balanced by a place without any.
[[nodiscard]] double excess_of_leaves(const Mesh& mesh, std::span<const std::int64_t> leaves);

}  // namespace sidestream
