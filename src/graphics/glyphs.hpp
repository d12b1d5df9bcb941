// The shapes of letters.
#pragma once

#include <span>
#include <string_view>

namespace sidestream::rendering {

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
