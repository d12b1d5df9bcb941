// Colour bars and captions. Positions follow from the layout only, text shrinks to the room it has, and the colour of
// the ink follows from the pixels below. Titles are broken into lines; numbers are left out instead of being cut.
#include "visualisation/graphics/annotations.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "visualisation/graphics/ink.hpp"
#include "visualisation/graphics/text.hpp"
#include "visualisation/graphics/ticks.hpp"

namespace sidestream::rendering {

namespace {

/// Height of capitals in pixels below which text is illegible.
constexpr double readable = 5.5;

/// The largest size, up to the layout's, that lets the text fit.
double fitting_size(const Layout& layout, const std::string& text, double available) {
  const double width = text_width(text, layout.text);
  return width > available && width > 0 ? layout.text * available / width : layout.text;
}

/// The smallest size of texts: below, they would become illegible, or small in proportion to the picture.
double least_size(const Layout& layout) { return std::min(layout.text, std::max(readable, 0.6 * layout.text)); }

/// True if the text fits into one line without being cut.
bool fits_in_a_line(const Layout& layout, const std::string& text, double available) {
  return fitting_size(layout, text, available) >= least_size(layout);
}

/// Draws a line in ink that is legible on the pixels below it.
void write(Image& image, const TextLine& line, TextBoxes* boxes) {
  const Ink ink = ink_in(image, box_of(line));
  draw_line_of_text(image, line, ink.colour, boxes, ink.halo);
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

/// The factor of the labels and their offset, which are written below the bar.
std::vector<std::string> units_of(const Ticks& ticks) {
  std::vector<std::string> units{power_text(ticks.exponent), offset_text(ticks.offset)};
  std::erase(units, "");
  return units;
}

void draw_units(Image& image, const Layout& layout, const Bar& bar, const std::vector<std::string>& units,
                double available, TextBoxes* boxes) {
  double baseline = bar.bottom + 1.9 * layout.text;
  for (const std::string& unit : units) {
    const TextLine line{unit, bar.left - 0.1 * layout.text, baseline, fitting_size(layout, unit, available)};
    write(image, line, boxes);
    baseline += 1.7 * layout.text;
  }
}

void draw_labels(Image& image, const Layout& layout, const Bar& bar, const Ticks& ticks, const ColourRange& range,
                 double right, TextBoxes* boxes) {
  const double left = bar.right + 0.75 * layout.text;
  for (const Tick& tick : ticks.ticks) {
    const double size = fitting_size(layout, tick.label, right - left);
    const double middle = bar.row_of(range.fraction(tick.value));
    // A number is never cut: it would be another one.
    if (size >= readable) write(image, {tick.label, left, middle + 0.5 * size, size}, boxes);
  }
}

/// Horizontal limits of a title, and the free height above its last line.
struct TitleLimits {
  double left, right, above;
};

/// Rows to cut from the bar's head, for a title that would be cut otherwise.
int rows_for_title(const Layout& layout, const std::string& title, const TitleLimits& free, const Bar& bar) {
  constexpr double most = 0.4;  ///< of the bar's height
  const double size = least_size(layout), height = bar.bottom - bar.top;
  if (free.above < layout.text || height < 12 * layout.text) return 0;
  const ParagraphLimits limits{free.right - free.left, free.above + most * height, size, size};
  const double needed = fit_paragraph(title, limits).height();
  return static_cast<int>(std::ceil(std::max(0.0, needed - free.above)));
}

/// Writes the title above the bar: one line if it fits into the bar's column, otherwise several, smaller ones where
/// these do not fit, either.
void draw_title(Image& image, const Layout& layout, const Bar& bar, const std::string& title, const TitleLimits& free,
                TextBoxes* boxes) {
  const double available = free.right - free.left;
  double step = 1.6 * layout.text;
  std::vector<std::string> lines = broken_at_spaces(title, layout.text, available);
  const auto most = static_cast<std::size_t>(std::clamp(1 + (free.above - layout.text) / step, 1.0, 4.0));
  std::vector<double> sizes;
  for (const std::string& line : lines) sizes.push_back(fitting_size(layout, line, available));
  const bool fit = lines.size() <= most && *std::min_element(sizes.begin(), sizes.end()) >= least_size(layout);
  if (!fit) {
    Paragraph smaller = fit_paragraph(title, {available, free.above, layout.text, least_size(layout)});
    step = Paragraph::step * smaller.size;
    sizes.assign(smaller.lines.size(), smaller.size);
    lines = std::move(smaller.lines);
  }
  double baseline = bar.top - 1.1 * layout.text - step * static_cast<double>(lines.size() - 1);
  for (std::size_t n = 0; n < lines.size(); ++n, baseline += step) {
    write(image, {lines[n], free.left, baseline, sizes[n]}, boxes);
  }
}

}  // namespace

void draw_colour_bar(Image& image, const Layout& layout, int column, const ColourMap& map, const ColourRange& range,
                     const std::string& title, TextBoxes* boxes) {
  const double text = layout.text;
  const double left = layout.width - (layout.bars - column) * layout.bar_column + 0.6 * text;
  const double right = left + layout.bar_column - 0.6 * text;
  const auto middle = 0.5 * (layout.caption_row + layout.height);
  // The labels at the ends of a small picture's bar must stay within it.
  const auto half = std::min(0.3 * layout.height, middle - layout.caption_row - text);
  Bar bar{static_cast<int>(left), static_cast<int>(left + 1.7 * text), static_cast<int>(middle - half),
          static_cast<int>(middle + half)};
  TitleLimits above{left - 0.1 * text, right - 0.4 * text, bar.top - 1.1 * text - layout.caption_row};
  const int lower = rows_for_title(layout, title, above, bar);
  bar.top += lower;
  above.above += lower;
  const Colour ink = ink_at(image, bar.left, bar.top);
  fill_bar(image, bar, map, ink);

  const Ticks ticks = make_ticks(range, half > 6 * text ? 6 : 3);
  const auto mark = [&](double value, double length) {
    const int row = std::clamp(static_cast<int>(bar.row_of(range.fraction(value))), bar.top, bar.bottom - 1);
    fill_rectangle(image, bar.right, row, bar.right + static_cast<int>(length * text) + 1, row + 1, ink);
  };
  for (const Tick& tick : ticks.ticks) mark(tick.value, 0.45);
  for (const double value : ticks.minor) mark(value, 0.2);
  // Labels without their unit would be wrong: without room for it below the bar, both are left out.
  const std::vector<std::string> units = units_of(ticks);
  const bool wide = std::ranges::all_of(
      units, [&](const std::string& unit) { return fitting_size(layout, unit, right - left) >= readable; });
  if (wide && bar.bottom + (0.2 + 1.7 * static_cast<double>(units.size())) * text <= layout.height) {
    draw_labels(image, layout, bar, ticks, range, right, boxes);
    draw_units(image, layout, bar, units, right - left, boxes);
  }
  // In a picture of a few rows only the caption fits.
  if (layout.caption_row > 0 && above.above < text) return;
  draw_title(image, layout, bar, title, above, boxes);
}

void draw_caption(Image& image, const Layout& layout, const std::string& caption, TextBoxes* boxes) {
  const double available = layout.width - 2 * layout.margin;
  if (fits_in_a_line(layout, caption, available)) {
    const double size = fitting_size(layout, caption, available);
    write(image, {caption, layout.margin, layout.margin + size, size}, boxes);
    return;
  }
  const double edge = 0.45 * layout.text, height = layout.caption_row - 1.5 * edge;
  const Paragraph lines = fit_paragraph(caption, {available, height, layout.text, least_size(layout)});
  double baseline = edge + 0.5 * std::max(0.0, height - lines.height()) + lines.size;
  for (const std::string& line : lines.lines) {
    write(image, {line, layout.margin, baseline, lines.size}, boxes);
    baseline += Paragraph::step * lines.size;
  }
}

double length_of_a_pixel(const Domain& domain, const Camera& camera) {
  constexpr double most = 1.02;
  const double ahead = camera.see(domain.centre()).ahead;
  if (camera.parallel()) return camera.sample_size(ahead);
  double nearest = ahead, farthest = ahead;
  for (int c = 0; c < 8; ++c) {
    nearest = std::min(nearest, camera.see(domain.corner(c)).ahead);
    farthest = std::max(farthest, camera.see(domain.corner(c)).ahead);
  }
  return nearest > 0 && farthest <= most * nearest ? camera.sample_size(ahead) : 0;
}

namespace {

/// A number 1, 2 or 5 times a power of ten.
struct RoundLength {
  int mantissa = 1, exponent = 0;
  [[nodiscard]] double value() const { return mantissa * std::pow(10.0, exponent); }
  [[nodiscard]] std::string text() const {
    if (exponent >= -3 && exponent <= 3) return fmt::format("{:.{}f}", value(), std::max(0, -exponent));
    const std::string power = power_text(exponent);
    // "10⁵" instead of "1×10⁵": the sign has two bytes.
    return mantissa == 1 ? power.substr(2) : fmt::format("{}{}", mantissa, power);
  }
};

/// The largest round length that is not above `most`.
RoundLength round_length_below(double most) {
  RoundLength best{1, static_cast<int>(std::floor(std::log10(most)))};
  for (const int mantissa : {2, 5}) {
    const RoundLength longer{mantissa, best.exponent};
    if (longer.value() <= most * (1 + 1e-9)) best = longer;
  }
  return best;
}

/// Draws the bar with its ends, from `left` to `right` at `bottom`.
void draw_bar(Image& image, double left, double right, double bottom, double text, Colour ink) {
  const double thick = std::max(1.5, 0.2 * text);
  const double middle = bottom - 0.35 * text;
  draw_stroke(image, {left, middle}, {right, middle}, thick, ink);
  for (const double end : {left, right}) draw_stroke(image, {end, bottom - 0.7 * text}, {end, bottom}, thick, ink);
}

}  // namespace

void draw_scale_bar(Image& image, const Layout& layout, double pixel, const std::string& unit, TextBoxes& boxes) {
  const Viewport view = layout.viewport();
  const double most = 0.24 * view.width * pixel, text = layout.text;
  if (!(most > 0) || !std::isfinite(most)) return;
  const RoundLength length = round_length_below(most);
  const std::string label = length.text() + (unit.empty() ? "" : " " + unit);
  const double wide = length.value() / pixel, written = text_width(label, text);
  const double bottom = layout.height - 0.9 * text;
  const double half = 0.5 * std::max(wide, written), edge = std::max(2.0, 0.6 * text);
  for (const double middle : {view.left + view.width - half - edge, view.left + half + edge}) {
    const TextLine line{label, middle - 0.5 * written, bottom - 1.15 * text, text};
    const TextBox box = box_of(line);
    const TextBox whole{middle - half - 2, box.top - 2, middle + half + 2, bottom + 2};
    if (!whole.is_within(layout.width, layout.height) || !boxes.are_clear_of(whole, 0.3 * text)) continue;
    const Ink ink = ink_in(image, whole);
    if (ink.halo) draw_bar(image, middle - 0.5 * wide - 1, middle + 0.5 * wide + 1, bottom + 1, 1.25 * text, *ink.halo);
    draw_bar(image, middle - 0.5 * wide, middle + 0.5 * wide, bottom, text, ink.colour);
    draw_line_of_text(image, line, ink.colour, &boxes, ink.halo);
    return;
  }
}

}  // namespace sidestream::rendering
