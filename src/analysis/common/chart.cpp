#include "sidestream/kit/analysis/chart.hpp"

#include <fmt/format.h>

#include <cmath>

#include "data/chart_order.hpp"
#include "graphics/annotations.hpp"
#include "graphics/colour.hpp"
#include "sidestream/kit/analysis/common_options.hpp"

namespace sidestream {
namespace {

Option scale_option(const std::string& value, const std::string& text) {
  return {.name = "scale",
          .type = OptionType::choice,
          .default_value = value,
          .text = text,
          .choices = {"logarithmic", "linear"}};
}

ChartFile read_file(const Settings& settings) {
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

void read_range(const Settings& settings, bool logarithmic, ChartFile& chart) {
  const std::vector<double> range = settings.reals("range");
  if (range.empty()) return;
  if (!(range[0] < range[1]) || !std::isfinite(range[1] - range[0]) || (logarithmic && !(range[0] > 0))) {
    settings.fail("range",
                  fmt::format("found the range [{}, {}], expected two finite numbers, the lower one first{}", range[0],
                              range[1], logarithmic ? ", and above 0 with `scale: logarithmic`" : ""));
  }
  chart.arguments.push_back(fmt::format("--range={},{}", range[0], range[1]));
}

}  // namespace

Option chart_option(const std::string& name, const std::string& text, const std::string& caption) {
  Option option{.name = name, .type = OptionType::map, .text = text};
  Option size = picture_size_option();
  size.default_value = "[1024, 768]";
  size.text = "Width and height of the image in pixels, at 100 pixels per inch.";
  option.options = {
      {.name = "file",
       .type = OptionType::file,
       .required = true,
       .text = "The file of each frame, `x-{index:05}.png`, .pdf or .svg.",
       .choices = {".png", ".pdf", ".svg"}},
      size,
      {.name = "caption", .default_value = caption, .text = "Text above the image, as in `render`; `none` for none."}};
  return option;
}

Option curves_option(const std::string& name, const std::string& text, const std::string& caption,
                     const std::vector<std::string>& quantities) {
  Option option = chart_option(name, text, caption);
  option.options.push_back(scale_option("logarithmic",
                                        "Scale of the vertical axis; a logarithmic one leaves out values that are not "
                                        "above 0."));
  if (!quantities.empty()) {
    option.options.push_back({.name = "quantity",
                              .type = OptionType::choice,
                              .default_value = quantities.front(),
                              .text = "The column that is plotted over k.",
                              .choices = quantities});
  }
  return option;
}

Option colours_option() {
  Option option =
      chart_option("image", "A chart of the table in colours.", "{label}    time {time:#.5g}    cycle {cycle}");
  option.options.push_back({.name = "colours",
                            .type = OptionType::choice,
                            .default_value = "viridis",
                            .text = "Colour map.",
                            .choices = rendering::ColourMap::names()});
  option.options.push_back(scale_option("linear", "`logarithmic`: colours follow the logarithm of the values."));
  option.options.push_back({.name = "range",
                            .type = OptionType::real,
                            .list = true,
                            .text = "Values at the two ends of the colour map. Default: the smallest and largest value "
                                    "above 0 of the iteration.",
                            .least_entries = 2,
                            .most_entries = 2});
  return option;
}

std::optional<ChartFile> read_chart(const Settings& all, const std::string& name) {
  if (!all.has(name)) return std::nullopt;
  return read_file(all.map(name));
}

std::optional<ChartFile> read_curves(const Settings& all, const std::string& name, bool of_spectrum) {
  if (!all.has(name)) return std::nullopt;
  const Settings settings = all.map(name);
  ChartFile chart = read_file(settings);
  chart.arguments.push_back("--up=" + settings.text("scale"));
  if (of_spectrum) chart.arguments.push_back("--quantity=" + settings.text("quantity"));
  return chart;
}

std::optional<ChartFile> read_colours(const Settings& all) {
  if (!all.has("image")) return std::nullopt;
  const Settings settings = all.map("image");
  ChartFile chart = read_file(settings);
  chart.arguments.push_back("--colours=" + settings.text("colours"));
  chart.arguments.push_back("--colour-scale=" + settings.text("scale"));
  read_range(settings, settings.text("scale") == "logarithmic", chart);
  return chart;
}

std::vector<std::string> titled(const std::string& option, const Variable& variable) {
  return {fmt::format("--title={}:{}", option, variable.title()), fmt::format("--unit={}:{}", option, variable.unit)};
}

void draw_chart(const ChartFile& chart, const std::string& table, const std::string& label,
                const std::vector<std::string>& arguments, const CombineInput& input, bool of_all) {
  auto* const results = dynamic_cast<ChartResults*>(&input.results);
  if (results == nullptr || input.communicator.rank() != 0) return;
  ChartOrder order{table, chart.file, {fmt::format("--size={}x{}", chart.width, chart.height)}, of_all};
  order.arguments.push_back("--caption=" + (chart.caption.empty()
                                                ? std::string()
                                                : rendering::expand_caption(chart.caption, label, input.iteration)));
  for (const auto& more : {chart.arguments, arguments}) {
    order.arguments.insert(order.arguments.end(), more.begin(), more.end());
  }
  results->draw(order);
}

}  // namespace sidestream
