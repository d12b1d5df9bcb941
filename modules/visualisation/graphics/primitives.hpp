// Primitives that are no meshes: lines with a width in samples, spheres and discs.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "visualisation/graphics/camera.hpp"
#include "visualisation/graphics/framebuffer.hpp"
#include "visualisation/graphics/rasteriser.hpp"

namespace sidestream::rendering {

/// Draws the twelve edges of the domain as lines `width` samples wide, hidden where something is in front of them.
void draw_outline(const Domain& domain, const Camera& camera, double width, Colour colour, Rasteriser& rasteriser);

/// Draws line segments `width` samples wide. They are drawn slightly nearer than they are, to be visible on the surface
/// in which they lie. `lines` holds the indices of their ends in `points`; `values` is empty or has one for each point.
struct Lines {
  std::span<const Vec3> points;
  std::span<const std::array<std::int64_t, 2>> lines;
  std::span<const double> values;
};
void draw_lines(const Lines& lines, const Camera& camera, double width, const Material& material,
                Rasteriser& rasteriser);

// Drawing of balls and discs into a framebuffer.

/// Balls of one size; the views must outlive the call. Positions are finite; `values` is empty or has one for each.
struct Balls {
  std::span<const Vec3> places;
  std::span<const double> values;
  double radius = 0;   ///< in the domain; 0: use `samples`
  double samples = 0;  ///< radius in samples of the picture, at any distance
  bool disc = false;   ///< a disc around the position, parallel to the picture, unlit
};

/// Draws the visible part of each ball, sample by sample: the first intersection of the line of sight through the
/// sample's middle gives the sample's depth and normal. Outlines are round at every size, since no triangles are drawn.
/// A ball also covers the sample that contains its position, so that none is too small to be visible. Where a ball is
/// cut off near the camera it is open, as surfaces are. A sample depends only on the ball and the camera, whatever
/// range of rows the framebuffer has.
void draw_balls(const Balls& balls, const Material& material, const Camera& camera, Framebuffer& framebuffer);

}  // namespace sidestream::rendering
