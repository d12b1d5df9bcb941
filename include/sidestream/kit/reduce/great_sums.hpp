// Exact sums beyond the greatest double. Their results are doubles again, for example the mean of values near 1e308.
#pragma once

#include <cmath>

#include "sidestream/extend/exact_sum.hpp"

namespace sidestream {

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
