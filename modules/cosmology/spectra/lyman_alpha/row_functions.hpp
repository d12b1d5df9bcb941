// erfc and exp of many numbers at once, by operations that every processor rounds alike: additions, multiplications,
// and fused multiply-add, which processors without that instruction emulate slowly.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "sidestream/data/box.hpp"

namespace sidestream::lyman_alpha {

/// exp(-y) for 0 <= y; 0 from 700 on. NaN gives NaN, because it must not look like a line that absorbs everything.
/// Relative error below 1e-15.
///
/// y = n ln 2 + r, |r| <= ln 2 / 2, and the Taylor series of exp(-r), whose 13th term is 1e-16.
[[gnu::always_inline]] inline double exp_of_minus(double y) noexcept {
  constexpr double shift = 0x1.8p52;  // rounds numbers that are added to it to integers
  constexpr double most = 700;
  const double bounded = y > most ? most : y;  // NaN stays NaN
  const double whole = __builtin_fma(bounded, 1.4426950408889634, shift), n = whole - shift;
  // ln 2 as a sum of two doubles
  const double r = __builtin_fma(n, 0x1.ef35793c7673p-45, __builtin_fma(n, 0x1.62e42fefa38p-1, -bounded));
  double sum = 1.0 / 479001600;
  constexpr double terms[] = {1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                              1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5,         1,          1};
#pragma GCC unroll 16
  for (const double term : terms) sum = __builtin_fma(sum, r, term);
  // 2^-n: n is in the last bits of `whole`.
  const auto power = (std::uint64_t{1023} - (std::bit_cast<std::uint64_t>(whole) & 0xfff)) << 52;
  const double value = sum * std::bit_cast<double>(power);
  return y >= most ? 0 : value;
}

/// erfc(x) exp(x^2) for 0 <= x; beyond 6.25, where erfc is below 9e-19, the value at 6.25. Relative error below 1e-14,
/// so that differences far from the centre of a line are as accurate as near it.
///
/// 1 / (1 + 2x) times a polynomial in (x - 3.75) / (x + 3.75), after Shepherd and Laframboise, "Chebyshev approximation
/// of (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity", Math. Comp. 36, 1981; this one interpolates at the 17 Chebyshev
/// points of 0 <= x <= 6.25.
[[gnu::always_inline]] inline double scaled_erfc(double x) noexcept {
  const double a = x < 6.25 ? x : 6.25;
  const double one = a + 3.75, two = 1 + 2 * a, inverse = 1 / (one * two);
  const double t = (a - 3.75) * two * inverse;
  double sum = -1.1118903997528515e-06;
  constexpr double terms[] = {
      -9.800585414111253e-06,  -2.458147466649528e-05, 1.1204217272989776e-05, 4.6525751739477375e-05,
      -0.00029073061057842224, 0.00029432006597055745, 0.001755905852307662,   -0.009746567578063933,
      0.028362259062876115,    -0.05869340175051956,   0.09230432157901561,    -0.10880393002902719,
      0.08227673848714394,     0.0035854154842199963,  -0.1402405985855423,    1.2375126308378297};
#pragma GCC unroll 16
  for (const double term : terms) sum = __builtin_fma(sum, t, term);
  return sum * (one * inverse);
}

/// out[n] = exp(-factor * values[n]); values and the factor must not be negative. NaN gives NaN.
void transmit(const double* values, double factor, Index count, double* out) noexcept;

/// Number of cells that `erf_steps` takes.
inline constexpr Index lanes = 16;
/// Absorption of cells in pixels -reach ... reach + 1 relative to their own: out[(e + reach) * lanes + l] is
/// strength[l] times erf((e + 1/2 - at[l]) scale[l]) - erf((e - 1/2 - at[l]) scale[l]), 0 <= at[l] < 1. At both ends
/// erf is taken as -1 and 1.
void erf_steps(Index reach, const double* at, const double* scale, const double* strength, double* out) noexcept;

}  // namespace sidestream::lyman_alpha
