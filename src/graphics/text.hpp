// Text in pictures, drawn with an own stroke font: no font file to find, the same pixels on every machine.
#pragma once

#include <string>
#include <string_view>

#include "graphics/colour.hpp"
#include "sidestream/data/result.hpp"

namespace sidestream::rendering {

/// Pixels that `text` (UTF-8) takes from left to right with capitals `size` pixels high.
[[nodiscard]] double text_width(std::string_view text, double size);

/// The text if it fits into `room` pixels, otherwise its beginning with "..." after it.
[[nodiscard]] std::string cut_text(std::string_view text, double size, double room);

/// Draws `text` (UTF-8; malformed bytes and characters without a shape become boxes) from `left` with its
/// baseline at `baseline` pixels from the top, antialiased; what lies outside the image is cut off.
void draw_text(Image& image, std::string_view text, double left, double baseline, double size, Colour colour);

/// Fills whole pixels left <= x < right, top <= y < bottom, cut to the image.
void fill_rectangle(Image& image, int left, int top, int right, int bottom, Colour colour);

}  // namespace sidestream::rendering
