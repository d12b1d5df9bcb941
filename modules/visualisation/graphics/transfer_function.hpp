// Transfer functions: opacity and colour of a volume by value.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "visualisation/graphics/colour.hpp"
#include "visualisation/graphics/light_slabs.hpp"

namespace sidestream::rendering {

/// Extinction per unit of length at a value; 0 is clear.
struct ExtinctionAt {
  double value, extinction;
};

/// Extinction is linear between given values, and constant beyond the first and last. The colour is that of a colour
/// map. Over a logarithmic range both follow the logarithm of the value. Paths along which the value changes linearly
/// are integrated exactly with respect to a table (pre-integration): the mean along such a path is the difference of
/// the function's integral at both ends, divided by the change. So a narrow peak between two samples is not missed.
/// After Engel, Kraus and Ertl, "High-quality pre-integrated volume rendering using hardware-accelerated pixel shading"
/// (2001), section 3, without absorption within the path.
class TransferFunction {
 public:
  /// `points` has at least two entries, whose values ascend, and are above 0 if the range is logarithmic. Colours are
  /// those of `map` over `range`.
  TransferFunction(std::span<const ExtinctionAt> points, const ColourMap& map, const ColourRange& range);

  /// A value as a position in the table. NaN for values that are not finite, or that have no logarithm if it counts.
  [[nodiscard]] float position(double value) const noexcept {
    const double place = ((logarithmic_ ? std::log10(value) : value) - low_) * scale_ + 1;
    if (!std::isfinite(place)) return std::numeric_limits<float>::quiet_NaN();
    return static_cast<float>(std::clamp(place, -farthest, farthest));
  }
  /// True if values between two positions, low <= high, are all clear.
  [[nodiscard]] bool is_clear(float low, float high) const noexcept {
    const auto first = static_cast<std::size_t>(std::floor(std::clamp<double>(low, 0, ends)));
    const auto last = static_cast<std::size_t>(std::ceil(std::clamp<double>(high, 0, ends)));
    return first == last ? at_ends_[first].extinction == 0 : integral_[first].extinction == integral_[last].extinction;
  }
  /// Integral of extinction and emission up to a position, which must not be NaN.
  [[nodiscard]] Light integral(double position) const noexcept {
    const int n = interval(position);
    return between(integral_[static_cast<std::size_t>(n)], integral_[static_cast<std::size_t>(n) + 1], position - n);
  }
  /// Extinction and emission per length at a position: linear between the ends of an interval.
  [[nodiscard]] Light at(double position) const noexcept {
    const double inside = std::clamp<double>(position, 0, ends);
    const int n = interval(inside);
    return between(at_ends_[static_cast<std::size_t>(n)], at_ends_[static_cast<std::size_t>(n) + 1], inside - n);
  }
  /// Mean along a path between two positions whose integrals are given.
  [[nodiscard]] Light mean(double from, const Light& before, double to, const Light& after) const noexcept {
    const double change = to - from;
    if (std::fabs(change) < 1e-3) return at(0.5 * (from + to));
    const double inverse = 1 / change;
    return {(after.extinction - before.extinction) * inverse, (after.red - before.red) * inverse,
            (after.green - before.green) * inverse, (after.blue - before.blue) * inverse};
  }

 private:
  static constexpr int intervals = 1024;      ///< between the first and the last value; one more beyond each
  static constexpr int ends = intervals + 2;  ///< the last end of an interval
  static constexpr double farthest = 1e6;
  [[nodiscard]] static Light between(const Light& a, const Light& b, double t) noexcept {
    return {a.extinction + t * (b.extinction - a.extinction), a.red + t * (b.red - a.red),
            a.green + t * (b.green - a.green), a.blue + t * (b.blue - a.blue)};
  }
  [[nodiscard]] static int interval(double position) noexcept {
    return static_cast<int>(std::clamp(position, 0.0, intervals + 1.0));
  }

  bool logarithmic_;
  double low_, scale_;
  std::vector<Light> integral_, at_ends_;  ///< by end of an interval
};

}  // namespace sidestream::rendering
