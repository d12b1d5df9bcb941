// The line of sight through a sample of a picture, for tests that cast rays.
#pragma once

#include "visualisation/graphics/camera.hpp"

namespace sidestream::rendering::testing {

/// A ray in the domain. Its point at parameter t lies t in front of the camera.
struct Ray {
  Vec3 from, along;
};

/// Finds the ray from the camera's projection of three points, without the formulas of the drawing.
inline Ray ray_through(const Camera& camera, double x, double y) {
  const Vec3 base = add(camera.eye(), camera.forward());
  const auto at = [&](const Vec3& p) { return camera.project(camera.see(p)); };
  const Projection p0 = at(base), pr = at(add(base, camera.right())), pu = at(add(base, camera.up()));
  const Vec3 offset =
      add(scale(camera.right(), (x - p0.x) / (pr.x - p0.x)), scale(camera.up(), (y - p0.y) / (pu.y - p0.y)));
  if (camera.parallel()) return {add(camera.eye(), offset), camera.forward()};
  return {camera.eye(), add(camera.forward(), offset)};
}

}  // namespace sidestream::rendering::testing
