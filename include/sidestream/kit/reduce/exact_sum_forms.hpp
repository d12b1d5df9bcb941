// Exact sums in a compact form, for results that have many of them, and beyond the greatest double.
#pragma once

#include <cmath>
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

// Exact sums beyond the greatest double. Their results are doubles again, for example the mean of values near 1e308.

/// Binary exponent by which such sums are scaled down to doubles. It suffices for every sum of finite values.
inline constexpr int great_bits = 64;

/// True if the sum of finite values exceeds the range of doubles.
[[nodiscard]] bool is_great(const ExactSum& sum) noexcept;

/// sum / 2^great_bits; bits that are then below the least double are lost.
[[nodiscard]] ExactSum lowered(const ExactSum& sum) noexcept;

/// sum * factor and sum / divisor. The result is that of the rounded sum if it is finite, and also correct if it is
/// not.
[[nodiscard]] double product_of(const ExactSum& sum, double factor) noexcept;
[[nodiscard]] double quotient_of(const ExactSum& sum, double divisor) noexcept;

/// Adds weight * sum: exactly if the weight is 1, otherwise to more than 200 bits. The weight is at most 1.
void add_weighted(ExactSum& total, const ExactSum& sum, double weight) noexcept;

}  // namespace sidestream
