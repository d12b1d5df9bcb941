#include "analysis/rendering/annotations.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/rendering/text.hpp"
#include "analysis/rendering/ticks.hpp"

namespace sidestream::rendering {
namespace {

/// The picture's own colour at a place where nothing is written yet decides about dark or light ink.
Colour ink_for(const Image& image, double x, double y) {
  const auto column = static_cast<std::size_t>(std::clamp<double>(x, 0, image.width - 1));
  const auto row = static_cast<std::size_t>(std::clamp<double>(y, 0, image.height - 1));
  const std::uint8_t* pixel = image.rgba.data() + (row * image.width + column) * 4;
  return ink_on({pixel[0], pixel[1], pixel[2]});
}

/// The largest size up to the layout's at which the text fits.
double fitting_size(const Layout& layout, const std::string& text, double room) {
  const double width = text_width(text, layout.text);
  return width > room && width > 0 ? layout.text * room / width : layout.text;
}

struct Bar {
  int left, right, top, bottom;
  [[nodiscard]] double row_of(double fraction) const { return bottom - fraction * (bottom - top); }
};

void fill_bar(Image& image, const Bar& bar, const ColourMap& map, Colour frame) {
  fill_rectangle(image, bar.left - 1, bar.top - 1, bar.right + 1, bar.bottom + 1, frame);
  for (int y = bar.top; y < bar.bottom; ++y) {
    const double fraction = (bar.bottom - y - 0.5) / (bar.bottom - bar.top);
    fill_rectangle(image, bar.left, y, bar.right, y + 1, map.at(fraction));
  }
}

}  // namespace

void draw_colour_bar(Image& image, const Layout& layout, int column, const ColourMap& map, const ColourRange& range,
                     const std::string& title) {
  const double text = layout.text;
  const double left = layout.width - (layout.bars - column) * layout.bar_column + 0.6 * text;
  const double right = left + layout.bar_column - 0.6 * text;
  const auto middle = 0.5 * (layout.caption_row + layout.height), half = 0.3 * layout.height;
  const Bar bar{static_cast<int>(left), static_cast<int>(left + 1.7 * text), static_cast<int>(middle - half),
                static_cast<int>(middle + half)};
  const Colour ink = ink_for(image, bar.left, bar.top);
  fill_bar(image, bar, map, ink);

  const Ticks ticks = make_ticks(range, half > 6 * text ? 6 : 3);
  for (const Tick& tick : ticks.ticks) {
    const double y = bar.row_of(range.fraction(tick.value));
    const int row = std::clamp(static_cast<int>(y), bar.top, bar.bottom - 1);
    fill_rectangle(image, bar.right, row, bar.right + static_cast<int>(0.45 * text) + 1, row + 1, ink);
    const double x = bar.right + 0.75 * text;
    const double size = fitting_size(layout, tick.label, right - x);
    draw_text(image, tick.label, x, y + 0.5 * size, size, ink);
  }
  const std::string power = power_text(ticks.exponent);
  if (!power.empty()) draw_text(image, power, left - 0.1 * text, bar.bottom + 1.9 * text, text, ink);
  // A long title of the only bar grows to the left, over the picture; several bars must keep to their
  // columns.
  const double end = left - 0.6 * text + layout.bar_column - (layout.bars > 1 ? 0.4 : 1.2) * text;
  const double room = layout.bars > 1 ? end - left : std::max(end - left, 0.5 * layout.width);
  const double size = fitting_size(layout, title, room);
  const double start = std::min(left - 0.1 * text, end - text_width(title, size));
  draw_text(image, title, start, bar.top - 1.1 * text, size, ink);
}

void draw_caption(Image& image, const Layout& layout, const std::string& caption) {
  const double size = fitting_size(layout, caption, layout.width - 2 * layout.margin);
  draw_text(image, caption, layout.margin, layout.margin + size, size, ink_for(image, 0, 0));
}

}  // namespace sidestream::rendering
