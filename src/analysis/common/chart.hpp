// Charts of tables: their options, and how they are ordered. Python draws them (`sidestream plot`).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sidestream/extend/options.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream {

/// A chart as the configuration describes it.
struct ChartFile {
  std::string file, caption;  ///< the caption with fields, empty for none
  int width = 1024, height = 768;
  std::vector<std::string> arguments{};  ///< what other options mean to `sidestream plot`
};

/// The option `image` of a chart, or another name.
[[nodiscard]] Option chart_option(const std::string& name, const std::string& text, const std::string& caption);
/// The same of charts of curves: of spectra (`quantities`: columns to choose from) or of distributions (none).
[[nodiscard]] Option curves_option(const std::string& name, const std::string& text, const std::string& caption,
                                   const std::vector<std::string>& quantities);
/// The option `image` of a chart with colours.
[[nodiscard]] Option colours_option();

/// Values of these options, if given. Throw Error(configuration).
[[nodiscard]] std::optional<ChartFile> read_chart(const Settings& settings, const std::string& name = "image");
[[nodiscard]] std::optional<ChartFile> read_curves(const Settings& settings, const std::string& name, bool of_spectrum);
[[nodiscard]] std::optional<ChartFile> read_colours(const Settings& settings);

/// Tells what option of the analysis named which variable: its title and its unit stand at an axis.
[[nodiscard]] std::vector<std::string> titled(const std::string& option, const Variable& variable);

/// Orders the chart of a table that was given to the results of this iteration, or with `of_all` of all iterations.
/// `label` is for the caption. On other servers than the first nothing happens.
void draw_chart(const ChartFile& chart, const std::string& table, const std::string& label,
                const std::vector<std::string>& arguments, const CombineInput& input, bool of_all = false);

}  // namespace sidestream
