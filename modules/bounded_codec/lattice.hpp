// Whole numbers for real ones: all prediction is done with them, so that every machine computes the same.
//
//   number = (value - base) / unit, unit a power of two, 2^11 to 2^12 of them in twice the bound
//
// Bounds of each value have numbers of logarithms instead (powers.hpp).
#pragma once

#include <cmath>
#include <cstdint>

namespace sidestream::bounded {

/// A number beyond stays out of the lattice; its value is then stored as it is.
inline constexpr std::int64_t most_number = std::int64_t{1} << 47;
inline constexpr int step_bits = 11;

struct Lattice {
  double base = 0;
  int exponent = 0;       ///< the unit is 2^exponent
  std::int64_t step = 1;  ///< units between neighbouring numbers of the finest level: at most twice the bound
};

/// True if there is a lattice for the bound.
[[nodiscard]] inline bool make_lattice(double bound, double base, Lattice& made) {
  constexpr int least = -1000, most = 1014;
  const int exponent = std::ilogb(bound) + 1 - step_bits;
  if (!(bound > 0) || !std::isfinite(bound) || exponent < least || exponent > most) return false;
  // One unit less than twice the bound: values lie up to half a unit from their numbers.
  made = {base, exponent, static_cast<std::int64_t>(std::floor(std::ldexp(bound, 1 - exponent))) - 1};
  return true;
}

/// Both directions, with the factors at hand.
template <class Real>
class Scale {
 public:
  static constexpr bool has_states = false;
  explicit Scale(const Lattice& lattice)
      : base_(lattice.base), unit_(std::ldexp(1.0, lattice.exponent)), inverse_(std::ldexp(1.0, -lattice.exponent)) {}
  /// False if the value has no number.
  [[nodiscard]] bool number(Real value, std::int64_t& number) const noexcept {
    const double whole = (static_cast<double>(value) - base_) * inverse_;
    if (!(std::fabs(whole) < static_cast<double>(most_number))) return false;
    number = static_cast<std::int64_t>(whole + std::copysign(0.5, whole));
    return true;
  }
  [[nodiscard]] Real value(std::int64_t number) const noexcept {
    return static_cast<Real>(base_ + static_cast<double>(number) * unit_);
  }
  /// True if the restored value is wrong by at most `bound`.
  [[nodiscard]] static bool keeps(Real value, Real restored, double bound) noexcept {
    return std::fabs(static_cast<double>(value) - static_cast<double>(restored)) <= bound;
  }

 private:
  double base_, unit_, inverse_;
};

}  // namespace sidestream::bounded
