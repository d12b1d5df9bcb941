// log2 of a number as far as a guess needs it: the exponent, and a polynomial that interpolates the logarithm of the
// rest at Chebyshev's points of 1 ... 2.
#pragma once

#include <bit>
#include <cstdint>

namespace sidestream::rough_logarithm {

/// Of the polynomial, and of rounding the number and the sum to 24 bits.
constexpr double error = 2.6e-6;

/// By powers of what is left of `middle`: the first has the greatest.
constexpr float middle = 1.5f, first = -0.024568534745087942f,
                terms[] = {0.04390747983075828f,  -0.07079685998119041f, 0.1417247357974217f,
                           -0.32061303548492204f, 0.9618208211752002f,   0.5849625007211561f};

/// Of a normal number above 0.
[[gnu::always_inline]] inline float of(float x) noexcept {
  const auto bits = std::bit_cast<std::int32_t>(x);
  const auto exponent = static_cast<float>((bits >> 23) - 127);
  const float u = std::bit_cast<float>((bits & 0x7fffff) | 127 << 23) - middle;
  float sum = first;
#pragma GCC unroll 8
  for (const float term : terms) sum = sum * u + term;
  return exponent + sum;
}

}  // namespace sidestream::rough_logarithm
