// Points that several blocks have: which of them count, by the numbers that the simulation gives them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// `ids`: this server's blocks of an array of whole numbers, one for each point. For each view a flag for each of its
/// points in the order of the array: 0 for the first point of that number in the block of lowest id that has it, over
/// all servers; 1 for others, and for all of a copy. Collective. Each server decides about its share of the numbers.
[[nodiscard]] std::vector<std::vector<std::uint8_t>> flag_shared(std::span<const BlockView> ids, Communicator& servers);

}  // namespace sidestream
