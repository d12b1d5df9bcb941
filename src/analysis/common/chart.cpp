#include "sidestream/kit/analysis/chart.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/data/beside_results.hpp"

namespace sidestream {
namespace {

/// Refuses widths and precisions of more than two digits, and fields as widths. A width of a billion would make a text
/// of a billion characters, and a width that is a field (`{time:{cycle}}`) is known only during the run. Unpaired
/// braces are left to the formatting, which refuses them.
void check_caption_fields(const std::string& pattern) {
  constexpr std::size_t most_digits = 2;
  bool inside = false;
  std::size_t digits = 0;
  for (std::size_t n = 0; n < pattern.size(); ++n) {
    const char c = pattern[n];
    const bool doubled = n + 1 < pattern.size() && pattern[n + 1] == c;
    if (!inside && (c == '{' || c == '}') && doubled) {
      ++n;
      continue;
    }
    if (inside && c == '{') {
      fail(Code::configuration,
           "found the caption '{}' with a field inside a field, expected a number there; write one as in {{time:8.3f}}",
           pattern);
    }
    if (c == '{' || c == '}') inside = c == '{';
    digits = inside && c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > most_digits) {
      fail(Code::configuration,
           "found the caption '{}' with a width or precision of more than {} digits, expected at most 99; shorten it",
           pattern, most_digits);
    }
  }
}

OptionField<ChartFile> scale_option(const std::string& standard, const std::string& text) {
  return option<OptionType::choice>("scale", &ChartFile::scale, text,
                                    {.standard = standard, .choices = {"logarithmic", "linear"}});
}

void read_caption(const Settings& settings, const std::string& name, const Metadata&, ChartFile& chart) {
  if (chart.caption == "none") chart.caption.clear();
  try {
    static_cast<void>(expand_caption(chart.caption, {}, {}));
  } catch (const Error& error) {
    settings.fail(name, error.what());
  }
}

void check_range(const Settings& settings, const std::string& name, const Metadata&, ChartFile& chart) {
  if (!chart.range) return;
  const auto [low, high] = *chart.range;
  const bool logarithmic = chart.scale == "logarithmic";
  if (low < high && std::isfinite(high - low) && (!logarithmic || low > 0)) return;
  settings.fail(name, fmt::format("found the range [{}, {}], expected two finite numbers, the lower one first{}", low,
                                  high, logarithmic ? ", and above 0 with `scale: logarithmic`" : ""));
}

/// Arguments of `sidestream plot` that options of the chart decide.
std::vector<std::string> arguments_of(const ChartFile& chart) {
  if (chart.scale.empty()) return {};
  if (chart.colours.empty()) {
    std::vector<std::string> arguments{"--up=" + chart.scale};
    if (!chart.quantity.empty()) arguments.push_back("--quantity=" + chart.quantity);
    return arguments;
  }
  std::vector<std::string> arguments{"--colours=" + chart.colours, "--colour-scale=" + chart.scale};
  if (chart.range) arguments.push_back(fmt::format("--range={},{}", (*chart.range)[0], (*chart.range)[1]));
  return arguments;
}

}  // namespace

std::string expand_caption(const std::string& pattern, const std::string& label, const Iteration& iteration) {
  check_caption_fields(pattern);
  try {
    return fmt::format(fmt::runtime(pattern), fmt::arg("label", label), fmt::arg("index", iteration.index),
                       fmt::arg("cycle", iteration.cycle), fmt::arg("time", iteration.time));
  } catch (const fmt::format_error& error) {
    fail(Code::configuration,
         "found the caption '{}' with a field that cannot be filled in ({}); expected {{label}}, {{time}}, "
         "{{cycle}} or "
         "{{index}}, perhaps with a format as in {{time:.3f}}; write '{{{{' for a brace",
         pattern, error.what());
  }
}

std::vector<std::string> colour_map_names() {
  return {"viridis", "inferno", "magma", "plasma", "cividis", "coolwarm", "grey", "twilight"};
}

OptionTable<ChartFile> chart_options(const std::string& caption) {
  return {
      option<OptionType::file>("file", &ChartFile::file, "The file of each frame, `x-{index:05}.png`, .pdf or .svg.",
                               {.required = true, .choices = {".png", ".pdf", ".svg"}}),
      option("size", &ChartFile::size, "Width and height of the image in pixels, at 100 pixels per inch.",
             {.standard = "[1024, 768]", .minimum = 16, .maximum = 16384}),
      option("caption", &ChartFile::caption, "Text above the image, as in `render`; `none` for none.",
             {.standard = caption})
          .then(read_caption)};
}

OptionTable<ChartFile> curves_options(const std::string& caption, const std::vector<std::string>& quantities) {
  OptionTable<ChartFile> options = chart_options(caption);
  options.add(scale_option("logarithmic",
                           "Scale of the vertical axis; a logarithmic one leaves out values that are not above 0."));
  if (!quantities.empty()) {
    options.add(option<OptionType::choice>("quantity", &ChartFile::quantity, "The column that is plotted over k.",
                                           {.standard = quantities.front(), .choices = quantities}));
  }
  return options;
}

OptionTable<ChartFile> colours_options() {
  return chart_options("{label}    time {time:#.5g}    cycle {cycle}")
      .add(option<OptionType::choice>("colours", &ChartFile::colours, "Colour map.",
                                      {.standard = "viridis", .choices = colour_map_names()}))
      .add(scale_option("linear", "`logarithmic`: colours follow the logarithm of the values."))
      .add(option("range", &ChartFile::range,
                  "Values at the two ends of the colour map. Default: the smallest and largest value above 0 of the "
                  "iteration.")
               .then(check_range));
}

std::vector<std::string> titled(const std::string& option, const Variable& variable) {
  return {fmt::format("--title={}:{}", option, variable.title()), fmt::format("--unit={}:{}", option, variable.unit)};
}

void draw_chart(const ChartFile& chart, const std::string& table, const std::string& label,
                const std::vector<std::string>& arguments, const CombineInput& input, bool of_all) {
  auto* const results = dynamic_cast<ResultServices*>(&input.results);
  if (results == nullptr || input.communicator.rank() != 0) return;
  ChartOrder order{table, chart.file, {fmt::format("--size={}x{}", chart.size[0], chart.size[1])}, of_all};
  order.arguments.push_back(
      "--caption=" + (chart.caption.empty() ? std::string() : expand_caption(chart.caption, label, input.iteration)));
  for (const auto& more : {arguments_of(chart), arguments}) {
    order.arguments.insert(order.arguments.end(), more.begin(), more.end());
  }
  results->draw(order);
}

}  // namespace sidestream
