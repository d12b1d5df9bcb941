// Annotations of a picture: its layout, colour bars, captions, and a scale bar of a round length.
#pragma once

#include <algorithm>
#include <string>

#include "sidestream/data/result.hpp"
#include "visualisation/graphics/camera.hpp"
#include "visualisation/graphics/colour.hpp"
#include "visualisation/graphics/paragraph.hpp"

namespace sidestream::rendering {

/// Sizes in pixels that depend only on the picture's size, so that frames of a run can be laid over one another.
struct Layout {
  int width = 0, height = 0;
  double text = 0;  ///< height of capitals
  double margin = 0;
  double bar_column = 0;  ///< width of one colour bar with its labels; 0: none
  int bars = 0;
  double caption_row = 0;                                    ///< height of the caption's row at the top; 0: none
  double left_space = 0, right_space = 0, bottom_space = 0;  ///< for the numbers and names of axes, and a scale bar

  Layout(int picture_width, int picture_height, int colour_bars, bool caption)
      : width(picture_width), height(picture_height), bars(colour_bars) {
    text = std::max(6.5, 0.0138 * std::min(width, height));
    margin = 1.9 * text;
    if (caption) caption_row = 3.6 * text;
    // Room for labels of seven digits; in all not more than half of a narrow picture.
    if (bars > 0) bar_column = std::min(10 * text, 0.5 * width / bars);
  }
  /// Leaves space next to the domain for axes.
  void add_axes() {
    left_space = std::min(7 * text, 0.16 * width);
    right_space = std::min(2.5 * text, 0.06 * width);
    bottom_space += std::min(4.6 * text, 0.2 * (height - caption_row));
  }
  /// Leaves room below the domain for a scale bar.
  void add_scale_bar() { bottom_space += std::min(3 * text, 0.15 * (height - caption_row)); }
  /// The part that is left for the domain.
  [[nodiscard]] Viewport viewport() const {
    return {left_space, caption_row, width - bars * bar_column - left_space - right_space,
            height - caption_row - bottom_space};
  }
};

/// Draws the colour bar in the column `column` (0 is the leftmost) at the right of the picture: the map from the
/// range's low end upwards, ticks at round numbers, and the title above. A title that is wider than the column takes
/// several lines, smaller ones if need be, and is cut only where there is no room for these. The boxes of the texts are
/// added to `boxes`, if given.
void draw_colour_bar(Image& image, const Layout& layout, int column, const ColourMap& map, const ColourRange& range,
                     const std::string& title, TextBoxes* boxes = nullptr);

/// Writes the caption into the row at the top, smaller or in several lines if it is too long, and cut only where there
/// is no room for these. The boxes of the texts are added to `boxes`, if given.
void draw_caption(Image& image, const Layout& layout, const std::string& caption, TextBoxes* boxes = nullptr);

/// Length in the domain of a pixel of its picture; 0 if that differs by more than 2 % from place to place, as it does
/// with perspective unless the domain is flat and seen from the front. The camera's viewport is in pixels.
[[nodiscard]] double length_of_a_pixel(const Domain& domain, const Camera& camera);

/// Draws a bar whose length is 1, 2 or 5 times a power of ten, about a fifth of the viewport's width, with the length
/// and its unit above, at the bottom right of the domain's part of the picture, or at the left, where that is free.
/// Draws nothing if neither is, or if `pixel`, the length of a pixel, is 0. The text's box is added to `boxes`.
void draw_scale_bar(Image& image, const Layout& layout, double pixel, const std::string& unit, TextBoxes& boxes);

}  // namespace sidestream::rendering
