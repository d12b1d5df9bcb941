// Whole numbers for logarithms, so that the same step is the same part of every value.
//
//   number = log2 |value| / unit - base; a value is 2^(whole + fraction), and 2^fraction a polynomial
//
// Only sums and products lead from a number to its value: they are the same on every machine, which std::exp2 is not.
// The way back only decides the number of bytes, but has to be fast.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "bounded_codec/lattice.hpp"

namespace sidestream::bounded {

inline constexpr int least_power = -36;  ///< a unit is at least 2^-36, for numbers of all logarithms to be small enough

/// 2^(f - 1/2) for f from -1/2 to 1/2, wrong by at most 4e-16 of the value; the first is the constant. The bytes of the
/// codec mean these numbers, so they never change.
inline constexpr std::array<double, 11> power_polynomial{
    0x1.6a09e667f3bcdp+0,  0x1.f5e46537ab942p-1,  0x1.5be298adf0359p-2,  0x1.41839eb878090p-4,
    0x1.bdb696e89c63cp-7,  0x1.ee4fd268bfccep-10, 0x1.c8d752fa56d01p-13, 0x1.69e4a7cb98b65p-16,
    0x1.f5b0fa77c6efcp-20, 0x1.3609b8c256fafp-23, 0x1.57abd0af446adp-27};

/// 2^exponent, from -1022 to 1023.
[[nodiscard]] inline double power_of_two(std::int64_t exponent) noexcept {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// log2 of a positive normal number, as whole + fraction; wrong by less than 1e-13.
[[nodiscard]] inline double log2_parts(double value, std::int64_t& whole) noexcept {
  constexpr std::uint64_t half_root = 0x3fe6a09e667f3bcd;  // the bits of sqrt(1/2), from which fractions are measured
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t above = bits - half_root;
  whole = static_cast<std::int64_t>(above) >> 52;
  const auto mantissa = std::bit_cast<double>(bits - (above & std::uint64_t{0xfff} << 52));
  const double s = (mantissa - 1) / (mantissa + 1), q = s * s;
  double sum = 1.0 / 15;
  for (const double factor : {1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0}) sum = sum * q + factor;
  return 2.8853900817779268 * s * sum;  // 2 / ln 2
}

/// True if there is a lattice for a part of each value of the type Real. `base`: 0, or the base's number.
template <class Real>
[[nodiscard]] bool make_power_lattice(double part, Lattice& made) {
  // A value is rounded to its type at last.
  constexpr double rounding = std::numeric_limits<Real>::epsilon() / 2;
  const double left = (part - rounding) / (1 + rounding);
  if (!(left >= rounding)) return false;
  const double most = std::log1p(left) * 1.4426950408889634;  // 1 / ln 2
  const int exponent = std::max(std::ilogb(most) + 1 - step_bits, least_power);
  // Logarithms lie up to half a unit from their numbers, and rounding adds a little.
  made = {0, exponent, static_cast<std::int64_t>(std::floor(std::ldexp(most, 1 - exponent) - 1.01))};
  return made.step > 0;
}

/// Both directions, for sizes of values; their signs and zeros are elsewhere (states.hpp).
template <class Real>
class PowerScale {
 public:
  static constexpr bool has_states = true;
  explicit PowerScale(const Lattice& lattice)
      : base_(static_cast<std::int64_t>(lattice.base)),
        bits_(-lattice.exponent),
        unit_(std::ldexp(1.0, lattice.exponent)),
        units_(std::ldexp(1.0, -lattice.exponent)) {}

  /// False if the value has no number.
  [[nodiscard]] bool number(Real value, std::int64_t& number) const noexcept {
    double size = std::fabs(static_cast<double>(value));
    if (!(size > 0 && size <= std::numeric_limits<double>::max())) return false;
    std::int64_t raised = 0, whole = 0;
    if (size < std::numeric_limits<double>::min()) {
      raised = 54;
      size *= 0x1p54;
    }
    const double fraction = log2_parts(size, whole) * units_;
    number = (whole - raised) * (std::int64_t{1} << bits_) - base_ +
             static_cast<std::int64_t>(fraction + std::copysign(0.5, fraction));
    return number < most_number && number > -most_number;
  }

  [[nodiscard]] Real value(std::int64_t number) const noexcept {
    constexpr std::int64_t most = 1100;  // is infinity, as its opposite is zero
    const std::int64_t log = base_ + number;
    const std::int64_t whole = std::clamp(log >> bits_, -most, most);
    const std::int64_t units = log & ((std::int64_t{1} << bits_) - 1);
    const double f = static_cast<double>(units) * unit_ - 0.5;
    double sum = power_polynomial.back();
    for (std::size_t n = power_polynomial.size() - 1; n-- > 0;) sum = sum * f + power_polynomial[n];
    // Half of the power first: only the second product is rounded, also where the value is subnormal.
    const std::int64_t half = whole >> 1;
    return static_cast<Real>(sum * power_of_two(half) * power_of_two(whole - half));
  }

  /// True if the restored size of a finite value is wrong by at most `part` of it.
  [[nodiscard]] static bool keeps(Real value, Real restored, double part) noexcept {
    // No product is rounded to a subnormal one, and the others lose less than the factor takes away.
    const double size = std::fabs(static_cast<double>(value)), raise = size < 0x1p-900 ? 0x1p100 : 1;
    const double error = std::fabs(size * raise - static_cast<double>(restored) * raise);
    return error <= part * (1 - 0x1p-50) * (size * raise);
  }

 private:
  std::int64_t base_;
  int bits_;
  double unit_, units_;
};

}  // namespace sidestream::bounded
