// Draws balls and discs into a framebuffer.
#pragma once

#include <span>

#include "graphics/camera.hpp"
#include "graphics/framebuffer.hpp"
#include "graphics/rasteriser.hpp"

namespace sidestream::rendering {

/// Balls of one size; the views must outlive the call. Places are finite; `values` is empty or has one for each.
struct Balls {
  std::span<const Vec3> places;
  std::span<const double> values;
  double radius = 0;   ///< in the domain; 0: `samples` counts
  double samples = 0;  ///< radius in samples of the picture, wherever the ball is
  bool disc = false;   ///< a disc round the place, parallel to the picture, unlit
};

/// Draws each ball as it is seen, sample by sample: where the line of sight through the sample's middle first meets it,
/// there are the sample's depth and normal. No triangles, so that outlines are round at every size. A ball also covers
/// the sample that its place is in, so that none is too small to be seen. What nearness to the camera cuts off is open,
/// as surfaces are. A sample depends on the ball and the camera alone, whatever range of rows the framebuffer has.
void draw_balls(const Balls& balls, const Material& material, const Camera& camera, Framebuffer& framebuffer);

}  // namespace sidestream::rendering
