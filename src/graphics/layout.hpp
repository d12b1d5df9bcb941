// Layout of a picture.
#pragma once

#include <algorithm>

#include "graphics/camera.hpp"

namespace sidestream::rendering {

/// Sizes in pixels that depend only on the picture's size, so that frames of a run can be laid over one another.
struct Layout {
  int width = 0, height = 0;
  double text = 0;  ///< height of capitals
  double margin = 0;
  double bar_column = 0;  ///< width of one colour bar with its labels; 0: none
  int bars = 0;
  double caption_row = 0;  ///< height of the caption's row at the top; 0: none

  Layout(int picture_width, int picture_height, int colour_bars, bool caption)
      : width(picture_width), height(picture_height), bars(colour_bars) {
    text = std::max(6.5, 0.0138 * std::min(width, height));
    margin = 1.9 * text;
    if (caption) caption_row = 3.6 * text;
    // Room for labels of seven digits; in all not more than half of a narrow picture.
    if (bars > 0) bar_column = std::min(10 * text, 0.5 * width / bars);
  }
  /// The part that is left for the domain.
  [[nodiscard]] Viewport viewport() const { return {0, caption_row, width - bars * bar_column, height - caption_row}; }
};

}  // namespace sidestream::rendering
