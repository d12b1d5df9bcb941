// Reals with fewer bits: the arithmetic that codecs of databases and outputs for other programs share.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Calls f(value) for each real of `in`, and writes the results to `out`, contiguous.
template <class Real, class F>
void for_each_real(BytesView in, std::byte* out, F&& f) {
  for (std::size_t n = 0; n < in.size() / sizeof(Real); ++n) {
    Real value;
    std::memcpy(&value, in.data() + n * sizeof value, sizeof value);
    const auto made = f(value);
    std::memcpy(out + n * sizeof made, &made, sizeof made);
  }
}

/// The nearest whole number, ties to even, in the default rounding mode of the processor. Unlike std::nearbyint it
/// takes a few instructions, which compilers vectorise.
[[nodiscard]] inline double nearest_whole(double value) noexcept {
  constexpr double all_whole = 0x1p52;  // from here on all reals are whole numbers
  const double size = std::fabs(value);
  return size < all_whole ? std::copysign(size + all_whole - all_whole, value) : value;
}

/// The number of bits of the fraction that a Real stores.
template <class Real>
inline constexpr int fraction_bits_of = std::numeric_limits<Real>::digits - 1;

/// Rounds to the nearest real with `kept` stored bits of the fraction, ties to even. The error is at most |x| / 2^(kept
/// + 1), or for subnormal x the smallest normal number / 2^(kept + 1). NaN, infinities, and numbers that would become
/// infinite are unchanged. `kept` is at least 1 and less than fraction_bits_of<Real>.
template <class Real>
[[nodiscard]] Real bit_rounded(Real value, int kept) noexcept {
  using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  const int dropped = fraction_bits_of<Real> - kept;
  const Bits infinite = std::bit_cast<Bits>(std::numeric_limits<Real>::infinity());
  const Bits bits = std::bit_cast<Bits>(value);
  if ((bits & infinite) == infinite) return value;
  // A carry out of the fraction increments the exponent, which gives the next power of two: the rounded number.
  const Bits odd = bits >> dropped & 1;
  const Bits rounded = (bits + (Bits{1} << (dropped - 1)) - 1 + odd) >> dropped << dropped;
  return (rounded & infinite) == infinite ? value : std::bit_cast<Real>(rounded);
}

/// The largest power of two that is at most twice the bound, so that every number has a multiple within the bound.
/// `bound` is positive and finite.
[[nodiscard]] inline double rounding_unit(double bound) noexcept {
  const int exponent = std::min(std::ilogb(bound) + 1, std::numeric_limits<double>::max_exponent - 1);
  return std::ldexp(1.0, exponent);
}

/// Rounds to the nearest multiple of `unit`, a power of two, ties to even. NaN, infinities, and numbers that would
/// become infinite are unchanged.
template <class Real>
[[nodiscard]] Real rounded_to(Real value, double unit) noexcept {
  const double count = static_cast<double>(value) / unit;
  const auto rounded = static_cast<Real>(nearest_whole(count) * unit);
  return std::isfinite(count) && std::isfinite(rounded) ? rounded : value;
}

/// The largest finite 16-bit real.
inline constexpr double largest_half = 65504;

/// The bits of the nearest IEEE binary16, ties to even. `value` is infinite, NaN, or at most `largest_half` in
/// magnitude.
[[nodiscard]] inline std::uint16_t half_bits(double value) noexcept {
  constexpr int dropped = 52 - 10;
  constexpr std::uint64_t bias = 1023 - 15, infinite = std::uint64_t{0x7ff} << 52;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t size = bits & ~(std::uint64_t{1} << 63);
  const std::uint64_t odd = size >> dropped & 1;
  std::uint64_t half = ((size + (std::uint64_t{1} << (dropped - 1)) - 1 + odd) >> dropped) - (bias << 10);
  if (size < (bias + 1) << 52) {
    // Below 2^-14 numbers are multiples of 2^-24, like float64 around 2^28.
    half = std::bit_cast<std::uint64_t>(std::fabs(value) + 0x1p28) - std::bit_cast<std::uint64_t>(0x1p28);
  }
  if (size >= infinite) half = size > infinite ? 0x7e00 : 0x7c00;
  return static_cast<std::uint16_t>(bits >> 48 & 0x8000) | static_cast<std::uint16_t>(half);
}

/// The number that the bits of a binary16 represent, exact.
[[nodiscard]] inline double from_half_bits(std::uint16_t bits) noexcept {
  const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  double size = 0;
  if (exponent == 0x1f) {
    size = fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    size = fraction * 0x1p-24;
  } else {
    size = std::ldexp(fraction | 0x400, exponent - 25);
  }
  return std::copysign(size, (bits & 0x8000) != 0 ? -1.0 : 1.0);
}

/// The extremes of the finite numbers seen.
struct FiniteExtremes {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool has_infinite = false;

  [[nodiscard]] bool empty() const noexcept { return low > high; }
  /// The largest absolute value; 0 if there are no numbers.
  [[nodiscard]] double largest() const noexcept { return empty() ? 0 : std::fmax(std::fabs(low), std::fabs(high)); }
  template <class Real>
  void add(BytesView values) noexcept {
    double least = low, most = high;
    unsigned infinite = has_infinite ? 1 : 0;
    for (std::size_t n = 0; n < values.size() / sizeof(Real); ++n) {
      Real value;
      std::memcpy(&value, values.data() + n * sizeof value, sizeof value);
      const auto number = static_cast<double>(value);
      const bool finite = std::fabs(number) <= std::numeric_limits<double>::max();
      least = finite && number < least ? number : least;
      most = finite && number > most ? number : most;
      infinite |= !finite && number == number ? 1U : 0U;
    }
    low = least;
    high = most;
    has_infinite = infinite != 0;
  }
};

}  // namespace sidestream
