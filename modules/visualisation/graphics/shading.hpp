// Lighting of surfaces.
#pragma once

#include <algorithm>

#include "visualisation/graphics/colour.hpp"
#include "visualisation/mesh/plane.hpp"

namespace sidestream::rendering {

/// Lights that are fixed to the camera, so that surfaces are lit in every view: a key light over the left shoulder, a
/// weaker one from the right, some light from above and behind the camera.
class Lights {
 public:
  /// Colour of a lit surface of colour `base`. `normal` (any length) and `eye` (unit, towards the camera) are in camera
  /// axes (right, up, ahead). Both sides of a surface look alike. A normal that is zero or not finite counts as facing
  /// the camera.
  [[nodiscard]] Colour shade(Colour base, const Vec3& normal, const Vec3& eye) const noexcept {
    const double squared = dot(normal, normal);
    Vec3 n = squared > 0 && squared < 1e300 ? scale(normal, 1 / std::sqrt(squared)) : eye;
    double facing = dot(n, eye);
    if (facing < 0) {
      n = scale(n, -1);
      facing = -facing;
    }
    const double diffuse =
        0.16 + 0.07 * n[1] + 0.30 * facing + 0.60 * std::max(0.0, dot(n, key_)) + 0.10 * std::max(0.0, dot(n, fill_));
    const double gloss = std::max(0.0, dot(n, unit(add(key_, eye))));
    const double g4 = gloss * gloss * gloss * gloss, g16 = g4 * g4 * g4 * g4;
    const double highlight = 0.16 * 65535 * g16 * g16;
    return {lit(base.red, diffuse, highlight), lit(base.green, diffuse, highlight), lit(base.blue, diffuse, highlight)};
  }

 private:
  static std::uint8_t lit(std::uint8_t base, double diffuse, double highlight) noexcept {
    return to_srgb(static_cast<std::uint32_t>(std::clamp(to_linear(base) * diffuse + highlight, 0.0, 65535.0)));
  }
  Vec3 key_ = unit({-0.5, 0.75, -1.0}), fill_ = unit({0.9, -0.1, -0.5});
};

}  // namespace sidestream::rendering
