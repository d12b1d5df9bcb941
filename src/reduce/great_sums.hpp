// Exact sums that exceed the greatest double, although what is made of them does not: the mean of values near 1e308.
#pragma once

#include <cmath>

#include "sidestream/extend/exact_sum.hpp"

namespace sidestream {

/// What such sums are scaled down by, so that they are doubles: no sum of finite values is that much greater.
inline constexpr int great_bits = 64;

/// Whether the sum of finite values exceeds the doubles.
[[nodiscard]] bool is_great(const ExactSum& sum) noexcept;

/// sum / 2^great_bits; of what then lies below the least double nothing is kept.
[[nodiscard]] ExactSum lowered(const ExactSum& sum) noexcept;

/// sum * factor and sum / divisor: as with the rounded sum where that is a double, and right where it is none.
[[nodiscard]] double product_of(const ExactSum& sum, double factor) noexcept;
[[nodiscard]] double quotient_of(const ExactSum& sum, double divisor) noexcept;

/// Adds weight * sum: exactly if the weight is 1, else to more than 200 bits. The weight is at most 1.
void add_weighted(ExactSum& total, const ExactSum& sum, double weight) noexcept;

}  // namespace sidestream
