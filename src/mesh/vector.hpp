// Three-component vectors, as plain arrays.
#pragma once

#include <array>
#include <cmath>

namespace sidestream::rendering {

using Vec3 = std::array<double, 3>;

[[nodiscard]] constexpr Vec3 add(const Vec3& a, const Vec3& b) noexcept {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
[[nodiscard]] constexpr Vec3 subtract(const Vec3& a, const Vec3& b) noexcept {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
[[nodiscard]] constexpr Vec3 scale(const Vec3& a, double s) noexcept { return {a[0] * s, a[1] * s, a[2] * s}; }
[[nodiscard]] constexpr double dot(const Vec3& a, const Vec3& b) noexcept {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
[[nodiscard]] constexpr Vec3 cross(const Vec3& a, const Vec3& b) noexcept {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
[[nodiscard]] inline double length(const Vec3& a) noexcept { return std::sqrt(dot(a, a)); }
/// `a` with length 1; a zero vector stays zero.
[[nodiscard]] inline Vec3 unit(const Vec3& a) noexcept {
  const double l = length(a);
  return l > 0 ? scale(a, 1 / l) : a;
}

}  // namespace sidestream::rendering
