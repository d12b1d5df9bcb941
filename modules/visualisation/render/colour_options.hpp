// Options about colours: maps, files of colours, ranges, and how colours go with values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sidestream/extend/option_table.hpp"
#include "visualisation/graphics/colour.hpp"

namespace sidestream::rendering {

/// Colours of an image, or of one of its layers, as they are written.
struct ColourOptions {
  std::vector<std::string> colours{};
  std::optional<std::string> file{};
  std::vector<double> range{};  ///< two ends; NaN stands for `running`
  std::optional<ColourScaling> scale{};
};

[[nodiscard]] OptionTable<ColourOptions> colour_options(bool of_layer);

/// A colour map that was chosen: a name, or colours of the user's own.
struct ChosenColours {
  std::string name;
  std::vector<ColourStop> stops;  ///< empty: the map of that name
  bool operator==(const ChosenColours&) const = default;
  [[nodiscard]] ColourMap map() const { return stops.empty() ? ColourMap(name) : ColourMap(stops); }
};

/// The colours of a layer, by default the image's. Reads the file that it names. Throws Error(configuration).
[[nodiscard]] ChosenColours read_colours(const Settings& layer, const Settings& image);

/// The way in which colours of a layer go with values, and the range that the configuration fixes, if any.
struct ChosenRange {
  ColourScaling scaling = ColourScaling::linear;
  std::optional<ColourRange> fixed;
  bool running = false;  ///< it includes the ranges of earlier iterations
};

/// Reads them, from the image where the layer has none. Throws Error(configuration).
[[nodiscard]] ChosenRange read_range(const Settings& layer, const Settings& image);

/// Checks the image's own range, which perhaps no layer uses. Throws Error(configuration).
void check_range_of_image(const Settings& image);

}  // namespace sidestream::rendering
