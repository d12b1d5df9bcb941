// Compact form of exact sums, for results that have a sum for each of many cells.
#pragma once

#include <cstdint>
#include <vector>

#include "sidestream/extend/exact_sum.hpp"

namespace sidestream {

/// Largest number of words of a sum.
inline constexpr std::size_t most_packed_words = 70;

/// Appends an exact sum: a word with the range of pieces, the sign and the special values, then the 32-bit pieces
/// without the zero pieces at both ends. The sum of a thousand numbers of equal size takes four or five words.
void pack(const ExactSum& sum, std::vector<std::uint32_t>& words);

/// Adds the packed sum at `words` to `sum`; returns its number of words. Throws Error(internal) if it has more than
/// `left` words or is invalid.
std::size_t add_packed(const std::uint32_t* words, std::size_t left, ExactSum& sum);

/// The number of words of the packed sum at `words`. Throws like add_packed.
[[nodiscard]] std::size_t packed_length(const std::uint32_t* words, std::size_t left);

}  // namespace sidestream
