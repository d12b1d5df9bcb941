#include "visualisation/graphics/scale_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "visualisation/graphics/ink.hpp"
#include "visualisation/graphics/text.hpp"
#include "visualisation/graphics/ticks.hpp"

namespace sidestream::rendering {

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
