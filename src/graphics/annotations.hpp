// Annotations of a picture: colour bars and the caption.
#pragma once

#include <string>

#include "graphics/colour.hpp"
#include "graphics/layout.hpp"
#include "sidestream/data/result.hpp"

namespace sidestream::rendering {

/// Draws the colour bar in the column `column` (0 is the leftmost) at the right of the picture: the map from the
/// range's low end upwards, ticks at round numbers, and the title above. A title that is wider than the column takes
/// several lines, and is cut where there is no room.
void draw_colour_bar(Image& image, const Layout& layout, int column, const ColourMap& map, const ColourRange& range,
                     const std::string& title);

/// Writes the caption into the row at the top.
void draw_caption(Image& image, const Layout& layout, const std::string& caption);

}  // namespace sidestream::rendering
