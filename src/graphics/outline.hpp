// Lines with a width in samples: the edges of the domain, contour lines.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "graphics/camera.hpp"
#include "graphics/rasteriser.hpp"

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

}  // namespace sidestream::rendering
