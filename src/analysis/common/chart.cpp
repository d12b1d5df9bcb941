#include "analysis/common/chart.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/common/common_options.hpp"
#include "base/fail.hpp"
#include "graphics/annotations.hpp"
#include "graphics/text.hpp"
#include "graphics/ticks.hpp"

namespace sidestream::halos {
namespace {

using namespace rendering;

constexpr Colour ink{40, 44, 50}, faint{226, 228, 232};

/// The title of an axis with what its numbers are multiples of.
std::string with_units(const std::string& title, const Ticks& ticks) {
  std::string text = title;
  for (const std::string& unit : {power_text(ticks.exponent), offset_text(ticks.offset)}) {
    if (!unit.empty()) text += "  " + unit;
  }
  return text;
}

}  // namespace

Chart::Chart(const ChartFrame& frame)
    : layout_(frame.width, frame.height, 0, !frame.caption.empty()),
      ranges_(frame.ranges),
      left_(layout_.margin + (frame.numbers_up ? 5.5 : 1) * layout_.text),
      right_(frame.width - layout_.margin),
      top_(layout_.caption_row + 2.6 * layout_.text),
      bottom_(frame.height - layout_.margin - 4.2 * layout_.text),
      image_{frame.width, frame.height,
             std::vector<std::uint8_t>(
                 4 * static_cast<std::size_t>(frame.width) * static_cast<std::size_t>(frame.height), 255)} {
  // Tiny pictures have hardly room for anything.
  right_ = std::max(right_, left_ + 1);
  bottom_ = std::max(bottom_, top_ + 1);
  draw_axes(frame);
  if (!frame.caption.empty()) draw_caption(image_, layout_, frame.caption);
}

void Chart::draw_axes(const ChartFrame& frame) {
  const double text = layout_.text;
  const int left = static_cast<int>(left_), right = static_cast<int>(right_), top = static_cast<int>(top_),
            bottom = static_cast<int>(bottom_);
  const Ticks across = make_ticks(ranges_[0], right - left > 30 * text ? 8 : 4);
  for (const Tick& tick : across.ticks) {
    const int x = static_cast<int>(column(tick.value));
    fill_rectangle(image_, x, top, x + 1, bottom, faint);
    draw_text(image_, tick.label, x - 0.5 * text_width(tick.label, text), bottom + 2.0 * text, text, ink);
  }
  Ticks up;
  if (frame.numbers_up) up = make_ticks(ranges_[1], bottom - top > 20 * text ? 6 : 3);
  for (const Tick& tick : up.ticks) {
    const int y = static_cast<int>(row(tick.value));
    fill_rectangle(image_, left, y, right, y + 1, faint);
    draw_text(image_, tick.label, left_ - 0.7 * text - text_width(tick.label, text), y + 0.5 * text, text, ink);
  }
  fill_rectangle(image_, left - 1, top, left, bottom + 1, ink);
  fill_rectangle(image_, left - 1, bottom, right, bottom + 1, ink);
  const std::string below = with_units(frame.titles[0], across), above = with_units(frame.titles[1], up);
  draw_text(image_, cut_text(below, text, right_ - left_), right_ - std::min(right_ - left_, text_width(below, text)),
            bottom + 4.4 * text, text, ink);
  draw_text(image_, cut_text(above, text, right_ - layout_.margin), layout_.margin, top_ - 1.2 * text, text, ink);
}

void Chart::bar(double x0, double x1, double y, Colour colour) {
  const int left = static_cast<int>(std::lround(column(x0))), right = static_cast<int>(std::lround(column(x1)));
  fill_rectangle(image_, left, static_cast<int>(std::lround(row(y))), std::max(left + 1, right - 1),
                 static_cast<int>(bottom_), colour);
}

void Chart::line(double x0, double y0, double x1, double y1, double pixels, Colour colour) {
  const double c0 = column(x0), r0 = row(y0), c1 = column(x1), r1 = row(y1);
  const int steps = 1 + static_cast<int>(std::max(std::fabs(c1 - c0), std::fabs(r1 - r0)));
  const double half = 0.5 * pixels;
  for (int n = 0; n <= steps; ++n) {
    const double t = static_cast<double>(n) / steps, c = c0 + t * (c1 - c0), r = r0 + t * (r1 - r0);
    fill_rectangle(image_, static_cast<int>(std::lround(c - half)), static_cast<int>(std::lround(r - half)),
                   static_cast<int>(std::lround(c + half)), static_cast<int>(std::lround(r + half)), colour);
  }
}

void Chart::dot(double x, double y, double pixels, Colour colour) {
  const double radius = 0.5 * pixels, c = column(x), r = row(y);
  for (int dy = static_cast<int>(-radius); dy <= static_cast<int>(radius); ++dy) {
    const double half = std::sqrt(std::max(0.0, radius * radius - dy * dy));
    const int line = static_cast<int>(std::lround(r)) + dy;
    fill_rectangle(image_, static_cast<int>(std::lround(c - half)), line, static_cast<int>(std::lround(c + half)) + 1,
                   line + 1, colour);
  }
}

Option chart_option(const std::string& text, const std::string& caption) {
  Option option{.name = "image", .type = OptionType::map, .text = text};
  Option size = picture_size_option();
  size.default_value = "[1024, 768]";
  option.options = {{.name = "file",
                     .type = OptionType::file,
                     .required = true,
                     .text = "The file of each frame, `x-{index:05}.png`.",
                     .choices = {".png"}},
                    size,
                    {.name = "caption",
                     .default_value = caption,
                     .text = "Text above the picture, as that of `render`; `none` for none."}};
  return option;
}

std::optional<ChartFile> read_chart(const Settings& all) {
  if (!all.has("image")) return std::nullopt;
  return read_chart_file(all.map("image"));
}

ChartFile read_chart_file(const Settings& settings) {
  ChartFile chart{settings.text("file"), settings.text("caption"), settings.integers<int>("size").at(0),
                  settings.integers<int>("size").at(1)};
  if (chart.caption == "none") chart.caption.clear();
  try {
    static_cast<void>(rendering::expand_caption(chart.caption, {}, {}));
  } catch (const Error& error) {
    settings.fail("caption", error.what());
  }
  return chart;
}

}  // namespace sidestream::halos
