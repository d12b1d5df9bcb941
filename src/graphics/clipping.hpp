// Cuts off what a projection cannot show.
#pragma once

#include <vector>

#include "graphics/camera.hpp"

namespace sidestream::rendering {

/// What is interpolated over a triangle.
struct Attributes {
  Vec3 normal;
  double value;
};

/// A corner of a polygon in camera axes.
struct ClippedCorner {
  Seen place;
  Attributes attributes;
};

/// Cuts a convex polygon to what lies ahead of the camera's near distance (perspective only) and projects to
/// within about `reach` samples of the picture's origin. A new corner is computed from the corner inside to
/// the one outside, so triangles that share an edge get the same one. After Sutherland and Hodgman,
/// "Reentrant polygon clipping" (1974).
void clip(std::vector<ClippedCorner>& polygon, const Camera& camera, double reach);

}  // namespace sidestream::rendering
