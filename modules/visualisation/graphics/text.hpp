// Text in pictures, drawn with a built-in stroke font: no font file is needed, and pixels are the same on every
// machine.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sidestream/data/result.hpp"
#include "visualisation/graphics/colour.hpp"
#include "visualisation/graphics/paragraph.hpp"

namespace sidestream::rendering {

/// Width in pixels of `text` (UTF-8) with capitals `size` pixels high.
[[nodiscard]] double text_width(std::string_view text, double size);

/// The text if it fits into `available` pixels, otherwise its beginning followed by "...".
[[nodiscard]] std::string cut_text(std::string_view text, double size, double available);

/// Draws antialiased `text` from `left` with its baseline at `baseline` pixels from the top. It is UTF-8; malformed
/// bytes and characters without a shape become boxes. Parts outside the image are cut off.
void draw_text(Image& image, std::string_view text, double left, double baseline, double size, Colour colour);

/// A line of text at its place in a picture.
struct TextLine {
  std::string text;      ///< UTF-8
  double x = 0;          ///< where it begins, in pixels from the left
  double y = 0;          ///< of its baseline, in pixels from the top
  double size = 0;       ///< height of capitals in pixels
  bool upwards = false;  ///< it runs upwards from (x, y), turned by a quarter
};

/// The rectangle that the strokes of a line cover; empty for a line without any.
[[nodiscard]] TextBox box_of(const TextLine& line);

/// Draws the line as draw_text does. With `halo` its strokes have an edge in that colour, which keeps it legible on a
/// picture. Its box is added to `boxes`, if given.
void draw_line_of_text(Image& image, const TextLine& line, Colour ink, TextBoxes* boxes,
                       std::optional<Colour> halo = std::nullopt);

/// Fills whole pixels left <= x < right, top <= y < bottom, clipped to the image.
void fill_rectangle(Image& image, int left, int top, int right, int bottom, Colour colour);

// The shapes of letters.

/// One character as strokes of a round pen. Capitals are 14 units high, small letters 10, descenders extend to -4; x
/// starts at 0. Commands of `path`: `m x y` lift the pen and go there, `l x y` straight line, `q x1 y1 x y` parabola
/// (quadratic Bezier), `a x y rx ry from sweep` line to and along an arc of an ellipse in degrees (positive:
/// counter-clockwise), `o` the same with the pen lifted before.
struct Glyph {
  char32_t code;
  double width;
  std::string_view path;
  double scale = 1;  ///< for superscripts
  double raise = 0;
};

/// All glyphs in ascending code; printable ASCII, and further characters for units and quantities.
[[nodiscard]] std::span<const Glyph> glyphs() noexcept;

/// The glyph of characters without a shape: an empty box.
[[nodiscard]] const Glyph& missing_glyph() noexcept;

}  // namespace sidestream::rendering
