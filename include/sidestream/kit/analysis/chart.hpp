// Charts of tables: their options, and requests to draw them. Python draws them (`sidestream plot`). Captions and names
// of colour maps, which pictures share.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sidestream/extend/option_table.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream {

/// A configured chart.
struct ChartFile {
  std::string file, caption;  ///< the caption may contain fields; empty: none
  std::array<int, 2> size{1024, 768};
  std::string scale, quantity, colours;  ///< of curves and of colours; empty where a chart has no such option
  std::optional<std::array<double, 2>> range{};
};

/// Fills {label}, {index}, {cycle} and {time} into the pattern of a caption; formats as in {time:.3f}. Throws
/// Error(configuration).
[[nodiscard]] std::string expand_caption(const std::string& pattern, const std::string& label,
                                         const Iteration& iteration);

/// The names of the colour maps of charts and pictures.
[[nodiscard]] std::vector<std::string> colour_map_names();

/// The options of a chart: of any chart, of a chart with curves, and of a chart with colours. `quantities`: the columns
/// to choose from for spectra; empty for distributions.
[[nodiscard]] OptionTable<ChartFile> chart_options(const std::string& caption);
[[nodiscard]] OptionTable<ChartFile> curves_options(const std::string& caption,
                                                    const std::vector<std::string>& quantities);
[[nodiscard]] OptionTable<ChartFile> colours_options();

/// Arguments with the variable that an option of the analysis names; its title and unit label an axis.
[[nodiscard]] std::vector<std::string> titled(const std::string& option, const Variable& variable);

/// Requests the chart of a table that was added to the results of this iteration. With `of_all`, the chart shows all
/// iterations. `label` is used in the caption. Does nothing on servers other than the first.
void draw_chart(const ChartFile& chart, const std::string& table, const std::string& label,
                const std::vector<std::string>& arguments, const CombineInput& input, bool of_all = false);

}  // namespace sidestream
