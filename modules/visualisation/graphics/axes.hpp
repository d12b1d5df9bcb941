// Axes with ticks, numbers and names round a domain.
#pragma once

#include <array>
#include <string>

#include "sidestream/data/result.hpp"
#include "visualisation/graphics/annotations.hpp"
#include "visualisation/graphics/camera.hpp"
#include "visualisation/graphics/paragraph.hpp"

namespace sidestream::rendering {

/// Names and units of the three axes; empty units are left out.
struct AxisTitles {
  std::array<std::string, 3> names{"x", "y", "z"};
  std::array<std::string, 3> units;
};

/// Draws an axis along one edge of the domain for each direction with an extent. This is the edge of the silhouette
/// that is farthest to the left or lowest in the picture: the left and the lower edge of a flat domain. Ticks point
/// outwards, with numbers at round positions and the axis' name beyond them. A text is drawn only where it lies in the
/// picture, outside colour bars, and overlaps none of `boxes`: with little space there are fewer numbers, or none.
/// Nothing is drawn if a corner of the domain is behind the camera. The camera's viewport is in pixels. The boxes of
/// the texts are added to `boxes`.
void draw_axes(Image& image, const Layout& layout, const Domain& domain, const Camera& camera, const AxisTitles& titles,
               TextBoxes& boxes);

}  // namespace sidestream::rendering
