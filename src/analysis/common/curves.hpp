// Charts of curves: spectra and distributions.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "analysis/common/chart.hpp"
#include "sidestream/data/result.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream {

/// A chart of curves as the configuration describes it.
struct CurveChart {
  halos::ChartFile file{};
  bool logarithmic = true;  ///< upwards
  std::string quantity{};   ///< of spectra: the column that is drawn
};

struct Curve {
  std::string name;  ///< empty: needs none
  std::vector<double> x, y;
};

/// The option `image`, or another name, of charts of spectra (`quantities`: columns to choose from) or of distributions
/// (none), and its value, if given. Throws Error(configuration).
[[nodiscard]] Option curves_option(const std::string& name, const std::string& text, const std::string& caption,
                                   const std::vector<std::string>& quantities);
[[nodiscard]] std::optional<CurveChart> read_curves(const Settings& settings, const std::string& name,
                                                    bool of_spectrum);

/// What is beside the curves. Titles are of the axes to the right and upwards; an axis that is logarithmic has
/// logarithms to the base 10, and its title says so.
struct CurveFrame {
  std::string label;  ///< for the caption
  std::array<std::string, 2> titles;
  bool logarithmic_right = true;
};

/// Draws the curves on the first server, each in a colour of its own. Points that are no numbers, or have no logarithm,
/// are left out, and the line between their neighbours too.
void draw_curves(const CurveChart& chart, const CurveFrame& frame, const std::vector<Curve>& curves,
                 const CombineInput& input);

/// A distribution as steps: `values` of the intervals between `edges`.
[[nodiscard]] Curve step_curve(const std::string& name, const std::vector<double>& edges,
                               const std::vector<double>& values);

/// A column of a table as reals.
[[nodiscard]] std::vector<double> reals_of(const std::vector<Column>& columns, const std::string& name);

}  // namespace sidestream
