#include "visualisation/graphics/light_tile.hpp"

namespace sidestream::rendering {

PixelBox pixels_between(const Camera& camera, std::span<const Vec3> corners, std::int64_t width, std::int64_t height,
                        int samples) {
  double left = std::numeric_limits<double>::infinity(), right = -left, top = left, bottom = -left;
  for (const Vec3& corner : corners) {
    const Seen seen = camera.see(corner);
    // Cells around the camera may appear anywhere.
    if (!camera.parallel() && !(seen.ahead >= camera.near())) return {0, width - 1, 0, height - 1};
    const Projection place = camera.project(seen);
    left = std::min(left, place.x);
    right = std::max(right, place.x);
    top = std::min(top, place.y);
    bottom = std::max(bottom, place.y);
  }
  const auto pixel = [&](double sample, std::int64_t size) {
    return static_cast<std::int64_t>(std::clamp(sample / samples, -2.0, static_cast<double>(size) + 1));
  };
  return {std::max<std::int64_t>(pixel(left, width) - 1, 0), std::min(pixel(right, width) + 1, width - 1),
          std::max<std::int64_t>(pixel(top, height) - 1, 0), std::min(pixel(bottom, height) + 1, height - 1)};
}

}  // namespace sidestream::rendering
