// Exact sums in few bytes, for results that have one for each of many cells.
#pragma once

#include <cstdint>
#include <vector>

#include "sidestream/extend/exact_sum.hpp"

namespace sidestream {

/// Words of a sum at most.
inline constexpr std::size_t most_packed_words = 70;

/// Appends an exact sum: a word that says which pieces follow, its sign and what is no number in it, then those pieces
/// of 32 bits that are not 0 at either end. The sum of a thousand numbers of one size takes four words or five.
void pack(const ExactSum& sum, std::vector<std::uint32_t>& words);

/// Adds the packed sum at `words` to `sum`; returns how many words it has. Throws Error(internal) if there are fewer
/// than `left` or if they are none.
std::size_t add_packed(const std::uint32_t* words, std::size_t left, ExactSum& sum);

/// How many words the packed sum at `words` has. Throws like add_packed.
[[nodiscard]] std::size_t packed_length(const std::uint32_t* words, std::size_t left);

}  // namespace sidestream
