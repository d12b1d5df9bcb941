// erfc and exp of many numbers at once, in additions and multiplications that every processor rounds alike.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "sidestream/data/box.hpp"

namespace sidestream::lyman_alpha {

/// exp(-y), 0 <= y; 0 from 700 on; NaN of NaN, which must not pass for a line that lets nothing through. Relative error
/// below 1e-15.
///
/// y = n ln 2 + r, |r| <= ln 2 / 2, and Taylor's series of exp(-r), whose 13th term is 1e-16.
[[gnu::always_inline]] inline double exp_of_minus(double y) noexcept {
  constexpr double shift = 0x1.8p52;  // makes whole numbers of what is added to it
  constexpr double most = 700;
  const double bounded = y > most ? most : y;  // NaN stays
  const double whole = bounded * 1.4426950408889634 + shift, n = whole - shift;
  const double r = (n * 0x1.62e42fefa38p-1 - bounded) + n * 0x1.ef35793c7673p-45;  // ln 2 in two parts
  double sum = 1.0 / 479001600;
  constexpr double terms[] = {1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                              1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5,         1,          1};
  for (const double term : terms) sum = sum * r + term;
  // 2^-n: n is in the last bits of `whole`.
  const auto power = (std::uint64_t{1023} - (std::bit_cast<std::uint64_t>(whole) & 0xfff)) << 52;
  const double value = sum * std::bit_cast<double>(power);
  return y >= most ? 0 : value;
}

/// erfc(x), 0 <= x; that of 6.25, 9e-19, beyond. Relative error below 1e-14, so that differences far from the centre of
/// a line are as good as near it.
///
/// exp(-x^2) / (1 + 2x) times a polynomial in (x - 3.75) / (x + 3.75), after Shepherd and Laframboise, "Chebyshev
/// approximation of (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity", Math. Comp. 36, 1981; this one interpolates at
/// the 17 Chebyshev points of 0 <= x <= 6.25.
[[gnu::always_inline]] inline double erfc_of(double x) noexcept {
  const double a = x < 6.25 ? x : 6.25;
  const double one = a + 3.75, two = 1 + 2 * a, inverse = 1 / (one * two);
  const double t = (a - 3.75) * two * inverse;
  double sum = -1.1118903997528515e-06;
  constexpr double terms[] = {
      -9.800585414111253e-06,  -2.458147466649528e-05, 1.1204217272989776e-05, 4.6525751739477375e-05,
      -0.00029073061057842224, 0.00029432006597055745, 0.001755905852307662,   -0.009746567578063933,
      0.028362259062876115,    -0.05869340175051956,   0.09230432157901561,    -0.10880393002902719,
      0.08227673848714394,     0.0035854154842199963,  -0.1402405985855423,    1.2375126308378297};
  for (const double term : terms) sum = sum * t + term;
  return exp_of_minus(a * a) * sum * (one * inverse);
}

/// out[n] = exp(-factor * values[n]); values and the factor are not negative.
void transmit(const double* values, double factor, Index count, double* out) noexcept;

/// How many numbers `erfc_edges` takes.
inline constexpr Index lanes = 16;
/// out[l] = erfc(|(edge - at[l]) * scale[l]|).
void erfc_edges(double edge, const double* at, const double* scale, double* out) noexcept;
/// What cells give to pixels -reach ... reach + 1 from their own: out[(e + reach) * lanes + l] is strength[l] times
/// erf((e + 1/2 - at[l]) scale[l]) - erf((e - 1/2 - at[l]) scale[l]), 0 <= at[l] < 1. At the ends erf is taken to be -1
/// and 1.
void erf_steps(Index reach, const double* at, const double* scale, const double* strength, double* out) noexcept;

}  // namespace sidestream::lyman_alpha
