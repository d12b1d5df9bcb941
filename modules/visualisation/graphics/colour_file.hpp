// Colour maps that users bring: lists of colours, and files with one colour a line.
#pragma once

#include <string>
#include <vector>

#include "visualisation/graphics/colour.hpp"

namespace sidestream::rendering {

/// Colours at even distances. Requires two or more.
[[nodiscard]] std::vector<ColourStop> evenly_spaced(const std::vector<Colour>& colours);

/// Reads a colour from each line of `text`: `#rrggbb`, a name that parse_colour knows, or three numbers, with blanks,
/// commas or semicolons in between. The numbers of all lines are from 0 to 1 or, if one of them is above 1, from 0 to
/// 255. A position may precede the colour, in all lines or in none; positions do not descend, and are mapped to 0
/// ... 1. Empty lines, and those that begin with "# " or "//", are left out. Throws Error(configuration) that names
/// `file` and the line.
[[nodiscard]] std::vector<ColourStop> colours_in(const std::string& text, const std::string& file);

}  // namespace sidestream::rendering
