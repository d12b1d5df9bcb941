// Vertices on the edges of a grid.
#pragma once

#include <array>
#include <cmath>

#include "sidestream/data/box.hpp"

namespace sidestream {

/// The position of a vertex: the fraction t of the way from `point` to its upper neighbour along `axis`.
struct CrossedEdge {
  Index3 point;
  int axis;
  double t;
  [[nodiscard]] Index3 upper() const noexcept {
    Index3 p = point;
    ++p[axis];
    return p;
  }
};

/// a + t (b - a); exactly a and b at the ends, even if the other one is not finite.
[[nodiscard]] inline double mix(double a, double b, double t) noexcept {
  return t == 0 ? a : t == 1 ? b : a + t * (b - a);
}

/// `value` moved by whole periods to within half a period of `near`.
[[nodiscard]] inline double nearest_turn(double value, double near, double period) noexcept {
  return value - period * std::nearbyint((value - near) / period);
}

/// The same for numbers that are equal a period apart, the shorter way round; period 0: they are not.
[[nodiscard]] inline double mix(double a, double b, double t, double period) noexcept {
  return mix(a, period > 0 && t != 1 ? nearest_turn(b, a, period) : b, t);
}

[[nodiscard]] inline std::array<double, 3> mix(const std::array<double, 3>& a, const std::array<double, 3>& b,
                                               double t) noexcept {
  if (t == 0) return a;
  if (t == 1) return b;
  return {a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])};
}

/// The fraction t where the value lies between a and b; exactly one of these is below the value.
[[nodiscard]] inline double crossing(double a, double b, double value) noexcept {
  const double whole = b - a;
  if (std::isfinite(whole)) return (value - a) / whole;
  return (0.5 * value - 0.5 * a) / (0.5 * b - 0.5 * a);
}

}  // namespace sidestream
