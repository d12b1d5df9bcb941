// Ink that is legible on a drawn background.
#pragma once

#include <optional>

#include "sidestream/data/result.hpp"
#include "visualisation/graphics/colour.hpp"
#include "visualisation/graphics/paragraph.hpp"

namespace sidestream::rendering {

/// Dark or light ink for a position, by the picture's own colour there. Positions outside count as the nearest inside.
[[nodiscard]] Colour ink_at(const Image& image, double x, double y);

/// Ink for a text, and a colour for its edges where it crosses both light and dark parts of the picture.
struct Ink {
  Colour colour;
  std::optional<Colour> halo;
};

/// Ink for a text in that box, where none is written yet.
[[nodiscard]] Ink ink_in(const Image& image, const TextBox& box);

/// Draws a straight line with round ends, `width` pixels wide, antialiased. Parts outside the image are cut off.
void draw_stroke(Image& image, const std::array<double, 2>& from, const std::array<double, 2>& to, double width,
                 Colour colour);

}  // namespace sidestream::rendering
