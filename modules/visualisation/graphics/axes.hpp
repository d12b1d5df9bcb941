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

/// Draws an axis along an edge of the domain for each direction in which it has an extent: that of its silhouette which
/// is farthest to the left or lowest in the picture, which for a flat domain is its left and its lower edge. Ticks
/// point outwards, with numbers at round positions and the axis' name beyond them. A text is drawn only where it lies
/// in the picture, beside colour bars, and overlaps none of `boxes`: where there is little room there are fewer
/// numbers, and without room none. Nothing is drawn if a corner of the domain is behind the camera. The camera's
/// viewport is in pixels. The boxes of the texts are added to `boxes`.
void draw_axes(Image& image, const Layout& layout, const Domain& domain, const Camera& camera, const AxisTitles& titles,
               TextBoxes& boxes);

}  // namespace sidestream::rendering
