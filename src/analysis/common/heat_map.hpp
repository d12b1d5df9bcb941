// Pictures of values on a plane grid, with a colour bar and a caption as `render` draws them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graphics/colour.hpp"
#include "reduce/grid_sums.hpp"
#include "sidestream/extend/options.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream {

/// What the configuration says of a picture.
struct HeatMap {
  std::string file, colours, caption;
  int width = 1024, height = 1024;
  std::optional<rendering::ColourRange> range;
  bool logarithmic = false;
};

/// The option `image`, and its value, if given. Throws Error(configuration).
[[nodiscard]] Option heat_map_option();
[[nodiscard]] std::optional<HeatMap> read_heat_map(const Settings& settings);

/// What it shows: `edges[0]` bounds the columns of the grid, `edges[1]` its rows, ascending or descending; `values` are
/// those of this server's rows.
struct HeatMapValues {
  const GridShape& grid;
  std::array<std::vector<double>, 2> edges;
  std::span<const double> values;
  std::string title;  ///< of the picture
  std::string of;     ///< of the colour bar, short
};

/// Collective: draws the picture, in which the first axis goes to the right and the second up, in their proportions. A
/// pixel has the colour of the value at its middle; where there is none it is grey. Of the values no server gets more
/// than the picture has pixels.
void draw_heat_map(const HeatMap& picture, const HeatMapValues& shown, const CombineInput& input);

}  // namespace sidestream
