// Text in pictures, drawn with an own stroke font: no font file to find, the same pixels on every machine.
#pragma once

#include <span>
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

// The shapes of letters.

/// One character as strokes of a round pen. Capitals are 14 units high, small letters 10, descenders reach
/// -4; x starts at 0. Commands of `path`: `m x y` lift the pen and go there, `l x y` straight line, `q x1 y1
/// x y` parabola (quadratic Bezier), `a x y rx ry from sweep` line to and along an arc of an ellipse in
/// degrees (positive: counter-clockwise), `o` the same with the pen lifted before.
struct Glyph {
  char32_t code;
  double width;
  std::string_view path;
  double scale = 1;  ///< for superscripts
  double raise = 0;
};

/// All glyphs in ascending code; printable ASCII, and what units and quantities need beyond it.
[[nodiscard]] std::span<const Glyph> glyphs() noexcept;

/// Shown for a character that has no glyph: an empty box.
[[nodiscard]] const Glyph& missing_glyph() noexcept;

}  // namespace sidestream::rendering
