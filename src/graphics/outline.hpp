// Lines of a width in samples: the edges of the domain, contour lines.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "graphics/camera.hpp"
#include "graphics/rasteriser.hpp"

namespace sidestream::rendering {

/// Draws the twelve edges of the domain as lines `width` samples wide, hidden where something is in front of
/// them.
void draw_outline(const Domain& domain, const Camera& camera, double width, Colour colour, Rasteriser& rasteriser);

/// Draws pieces of lines `width` samples wide, a little nearer than they are, so that they are seen on what they lie
/// in. `lines` holds the numbers of their ends among `points`; `values` is empty or has one for each point.
struct Lines {
  std::span<const Vec3> points;
  std::span<const std::array<std::int64_t, 2>> lines;
  std::span<const double> values;
};
void draw_lines(const Lines& lines, const Camera& camera, double width, const Material& material,
                Rasteriser& rasteriser);

}  // namespace sidestream::rendering
