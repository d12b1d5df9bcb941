// A plane through a mesh.
#pragma once

#include <array>
#include <cmath>

#include "visualisation/mesh/field_source.hpp"

namespace sidestream {

/// All x with normal . (x - origin) = 0. The normal has length 1; seen from its side triangles are counter-clockwise.
struct Plane {
  std::array<double, 3> origin{};
  std::array<double, 3> normal{0, 0, 1};
};

/// The signed distance to a plane, computed from positions only. If a plane touches the grid from below (all distances
/// >= 0), the sign is reversed. So a face in the plane is cut like any other.
class PlaneSource final : public ScalarSource {
 public:
  PlaneSource(const PointGrid& grid, const Plane& plane);
  [[nodiscard]] bool may_cross(const Box& region) const override;
  void fill(const Box& region, double* out) override;
  /// True if triangles must be reversed to be counter-clockwise seen from the normal's side.
  [[nodiscard]] bool reverse() const noexcept { return reverse_; }

 private:
  [[nodiscard]] std::array<double, 2> range(const Box& region) const;

  std::array<std::vector<double>, 3> terms_;  ///< normal[a] (x[a] - origin[a]), signed, of every point of the axis
  Index3 first_;
  bool reverse_ = true;
};

}  // namespace sidestream

// Three-component vectors, as plain arrays.
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
