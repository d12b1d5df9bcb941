#include "analysis/common/curves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/common/chart.hpp"
#include "graphics/annotations.hpp"
#include "graphics/text.hpp"

namespace sidestream {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Distinct for most eyes, and in grey. (Paul Tol, "Colour Schemes", SRON/EPS/TN/09-002, 2021.)
constexpr std::array<rendering::Colour, 6> colours{
    {{68, 119, 170}, {238, 102, 119}, {34, 136, 51}, {204, 187, 68}, {102, 204, 238}, {170, 51, 119}}};

std::vector<double> scaled(std::vector<double> values, bool logarithmic) {
  for (double& v : values) {
    if (logarithmic) v = v > 0 ? std::log10(v) : none;
    if (!std::isfinite(v)) v = none;
  }
  return values;
}

/// With some room on both sides.
rendering::ColourRange range_of(const std::vector<Curve>& curves, std::vector<double> Curve::*values, double room) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Curve& curve : curves) {
    for (std::size_t n = 0; n < curve.x.size(); ++n) {
      if (std::isnan(curve.x[n]) || std::isnan(curve.y[n])) continue;
      low = std::min(low, (curve.*values)[n]);
      high = std::max(high, (curve.*values)[n]);
    }
  }
  const rendering::ColourRange range = rendering::usable_range(low, high);
  const double more = room * (range.high - range.low);
  return {range.low - more, range.high + more};
}

void draw_names(Image& image, const std::vector<Curve>& curves, bool caption) {
  const rendering::Layout layout(image.width, image.height, 0, caption);
  double right = image.width - layout.margin;
  for (std::size_t c = curves.size(); c-- > 0;) {
    if (curves[c].name.empty()) continue;
    const double left = right - rendering::text_width(curves[c].name, layout.text);
    rendering::draw_text(image, curves[c].name, left, layout.caption_row + 1.4 * layout.text, layout.text,
                         colours[c % colours.size()]);
    right = left - 1.5 * layout.text;
  }
}

}  // namespace

Option curves_option(const std::string& name, const std::string& text, const std::string& caption,
                     const std::vector<std::string>& quantities) {
  Option option = halos::chart_option(text, caption);
  option.name = name;
  option.options.push_back({.name = "scale",
                            .type = OptionType::choice,
                            .default_value = "logarithmic",
                            .text = "Of the axis upwards; on a logarithmic one what is not above 0 is left out.",
                            .choices = {"logarithmic", "linear"}});
  if (!quantities.empty()) {
    option.options.push_back({.name = "quantity",
                              .type = OptionType::choice,
                              .default_value = quantities.front(),
                              .text = "The column that is drawn over k.",
                              .choices = quantities});
  }
  return option;
}

std::optional<CurveChart> read_curves(const Settings& all, const std::string& name, bool of_spectrum) {
  if (!all.has(name)) return std::nullopt;
  const Settings settings = all.map(name);
  CurveChart chart;
  chart.file = halos::read_chart_file(settings);
  chart.logarithmic = settings.text("scale") == "logarithmic";
  if (of_spectrum) chart.quantity = settings.text("quantity");
  return chart;
}

void draw_curves(const CurveChart& chart, const CurveFrame& frame, const std::vector<Curve>& curves,
                 const CombineInput& input) {
  if (input.communicator.rank() != 0) return;
  std::vector<Curve> drawn = curves;
  for (Curve& curve : drawn) {
    curve.x = scaled(curve.x, frame.logarithmic_right);
    curve.y = scaled(curve.y, chart.logarithmic);
  }
  halos::ChartFrame outer;
  outer.width = chart.file.width;
  outer.height = chart.file.height;
  if (!chart.file.caption.empty()) {
    outer.caption = rendering::expand_caption(chart.file.caption, frame.label, input.iteration);
  }
  outer.titles = {(frame.logarithmic_right ? "log10 " : "") + frame.titles[0],
                  (chart.logarithmic ? "log10 " : "") + frame.titles[1]};
  outer.ranges = {range_of(drawn, &Curve::x, 0.02), range_of(drawn, &Curve::y, 0.04)};
  halos::Chart picture(outer);
  for (std::size_t c = 0; c < drawn.size(); ++c) {
    const Curve& curve = drawn[c];
    const auto there = [&](std::size_t n) { return !std::isnan(curve.x[n]) && !std::isnan(curve.y[n]); };
    const rendering::Colour colour = colours[c % colours.size()];
    for (std::size_t n = 0; n < curve.x.size(); ++n) {
      if (!there(n)) continue;
      const bool before = n > 0 && there(n - 1), behind = n + 1 < curve.x.size() && there(n + 1);
      if (behind) picture.line(curve.x[n], curve.y[n], curve.x[n + 1], curve.y[n + 1], 2, colour);
      if (!before && !behind) picture.dot(curve.x[n], curve.y[n], 5, colour);
    }
  }
  Image image = picture.take();
  draw_names(image, drawn, !outer.caption.empty());
  input.results.add(chart.file.file, image);
}

Curve step_curve(const std::string& name, const std::vector<double>& edges, const std::vector<double>& values) {
  Curve curve{name, {}, {}};
  for (std::size_t n = 0; n < values.size(); ++n) {
    curve.x.insert(curve.x.end(), {edges[n], edges[n + 1]});
    curve.y.insert(curve.y.end(), {values[n], values[n]});
  }
  return curve;
}

std::vector<double> reals_of(const std::vector<Column>& columns, const std::string& name) {
  for (const Column& column : columns) {
    if (column.name != name) continue;
    if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&column.values)) {
      return {whole->begin(), whole->end()};
    }
    return std::get<std::vector<double>>(column.values);
  }
  return {};
}

}  // namespace sidestream
