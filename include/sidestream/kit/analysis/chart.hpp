// Charts of tables: their options, and requests to draw them. Python draws them (`sidestream plot`).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sidestream/extend/options.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream {

/// A configured chart.
struct ChartFile {
  std::string file, caption;  ///< the caption may contain fields; empty: none
  int width = 1024, height = 768;
  std::vector<std::string> arguments{};  ///< further arguments of `sidestream plot`, from other options
};

/// The option for a chart, named `image` or otherwise.
[[nodiscard]] Option chart_option(const std::string& name, const std::string& text, const std::string& caption);
/// The option for a chart of curves. `quantities` are the columns to choose from for spectra, and empty for
/// distributions.
[[nodiscard]] Option curves_option(const std::string& name, const std::string& text, const std::string& caption,
                                   const std::vector<std::string>& quantities);
/// The option `image` of a chart with colours.
[[nodiscard]] Option colours_option();

/// Values of these options, if given. Throw Error(configuration).
[[nodiscard]] std::optional<ChartFile> read_chart(const Settings& settings, const std::string& name = "image");
[[nodiscard]] std::optional<ChartFile> read_curves(const Settings& settings, const std::string& name, bool of_spectrum);
[[nodiscard]] std::optional<ChartFile> read_colours(const Settings& settings);

/// Arguments with the variable that an option of the analysis names; its title and unit label an axis.
[[nodiscard]] std::vector<std::string> titled(const std::string& option, const Variable& variable);

/// Requests the chart of a table that was added to the results of this iteration. With `of_all`, the chart shows all
/// iterations. `label` is used in the caption. Does nothing on servers other than the first.
void draw_chart(const ChartFile& chart, const std::string& table, const std::string& label,
                const std::vector<std::string>& arguments, const CombineInput& input, bool of_all = false);

}  // namespace sidestream
