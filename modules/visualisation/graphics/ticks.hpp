// Round numbers along a scale.
#pragma once

#include <string>
#include <vector>

#include "visualisation/graphics/colour.hpp"

namespace sidestream::rendering {

struct Tick {
  double value = 0;
  std::string label;
};

/// Ticks at multiples of 1, 2 or 5 times a power of ten within the range. Where the numbers would be long, labels are
/// in units of 10^exponent; where only their last digits differ, they are relative to the offset. A tick's value is
/// offset + label * 10^exponent. In a logarithmic range they are at powers of ten, at some multiples of these where the
/// range has fewer than three powers, and as in a linear range where it has none; a label may be "10⁻⁵".
struct Ticks {
  std::vector<Tick> ticks;
  std::vector<double> minor;  ///< values without a label; of logarithmic ranges only
  int exponent = 0;
  double offset = 0;
};

/// About `wanted` ticks (at least half in a linear range, at most one more). Requires a usable range (low < high).
[[nodiscard]] Ticks make_ticks(const ColourRange& range, int wanted);

/// "×10⁻⁵", empty for exponent 0. UTF-8.
[[nodiscard]] std::string power_text(int exponent);

/// "+300" or "-0.125"; empty for 0.
[[nodiscard]] std::string offset_text(double offset);

}  // namespace sidestream::rendering
