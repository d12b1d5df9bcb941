// Images of values on a plane grid, with a colour bar and a caption as in `render`.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sidestream/extend/option_table.hpp"
#include "sidestream/extend/task.hpp"
#include "sidestream/kit/reduce/grid_sums.hpp"
#include "visualisation/graphics/colour.hpp"

namespace sidestream {

/// A configured image.
struct HeatMap {
  std::string file, colours, caption;
  std::array<int, 2> size{1024, 1024};
  std::optional<std::array<double, 2>> range{};
  bool logarithmic = false;
};

/// The options of an image.
[[nodiscard]] OptionTable<HeatMap> heat_map_options();

/// Content of an image: `edges[0]` are the edges of the grid's columns, `edges[1]` of its rows, ascending or
/// descending; `values` belong to this server's rows.
struct HeatMapValues {
  const GridShape& grid;
  std::array<std::vector<double>, 2> edges;
  std::span<const double> values;
  std::string title;  ///< title of the image
  std::string of;     ///< short label of the colour bar
};

/// Collective: draws the image, with the first axis to the right and the second upwards, in proportion. A pixel has the
/// colour of the value at its middle; without one it is grey. No server receives more values than the image has pixels.
void draw_heat_map(const HeatMap& picture, const HeatMapValues& shown, const CombineInput& input);

}  // namespace sidestream
