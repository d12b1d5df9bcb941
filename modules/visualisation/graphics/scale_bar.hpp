// A bar of a round length, which shows the size of what a picture shows.
#pragma once

#include <string>

#include "sidestream/data/result.hpp"
#include "visualisation/graphics/annotations.hpp"
#include "visualisation/graphics/camera.hpp"
#include "visualisation/graphics/text_boxes.hpp"

namespace sidestream::rendering {

/// Length in the domain of a pixel of its picture; 0 if that differs by more than 2 % from place to place, as it does
/// with perspective unless the domain is flat and seen from the front. The camera's viewport is in pixels.
[[nodiscard]] double length_of_a_pixel(const Domain& domain, const Camera& camera);

/// Draws a bar whose length is 1, 2 or 5 times a power of ten, about a fifth of the viewport's width, with the length
/// and its unit above, at the bottom right of the domain's part of the picture, or at the left, where that is free.
/// Draws nothing if neither is, or if `pixel`, the length of a pixel, is 0. The text's box is added to `boxes`.
void draw_scale_bar(Image& image, const Layout& layout, double pixel, const std::string& unit, TextBoxes& boxes);

}  // namespace sidestream::rendering
