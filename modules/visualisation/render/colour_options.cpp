#include "visualisation/render/colour_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cmath>
#include <fstream>
#include <sstream>

#include "sidestream/kit/analysis/chart.hpp"
#include "sidestream/kit/base/names.hpp"
#include "sidestream/kit/base/text.hpp"
#include "visualisation/graphics/colour.hpp"

namespace sidestream::rendering {
namespace {

std::string read_colour_file(const Settings& settings, const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (in) return text.str();
  settings.fail("colour_file", fmt::format("cannot read the colours in '{}' ({}); correct the path, which must be "
                                           "readable where the servers run",
                                           file, system_text(errno)));
}

/// `colours: [first, second, ...]`, or the name of a map.
ChosenColours listed_colours(const Settings& settings, const std::vector<std::string>& entries) {
  if (entries.size() == 1) {
    const std::vector<std::string> names = colour_map_names();
    if (std::find(names.begin(), names.end(), entries[0]) != names.end()) return {entries[0], {}};
    settings.fail("colours",
                  fmt::format("found '{}' for 'colours', expected one of {}, or a list of two colours or more; {}",
                              entries[0], listed(names), suggestion(entries[0], names, "write one of them")));
  }
  std::vector<Colour> colours;
  for (const std::string& entry : entries) {
    const std::optional<Colour> colour = parse_colour(entry);
    if (!colour) {
      settings.fail("colours", fmt::format("found '{}' in the list 'colours', expected a colour; write it as '#rrggbb' "
                                           "(in quotes) or take one of {}",
                                           entry, fmt::join(colour_names(), ", ")));
    }
    colours.push_back(*colour);
  }
  return {{}, evenly_spaced(colours)};
}

/// The ends in the configuration, if it has two.
std::optional<ColourRange> checked_ends(const Settings& settings, const std::vector<double>& ends) {
  if (ends.size() < 2) return std::nullopt;
  if (!(ends[0] < ends[1]) || !std::isfinite(ends[1] - ends[0])) {
    settings.fail("range", fmt::format("found the range [{}, {}], expected two finite numbers, the lower one first",
                                       ends[0], ends[1]));
  }
  return ColourRange{ends[0], ends[1]};
}

}  // namespace

OptionTable<ColourOptions> colour_options(bool of_layer) {
  const auto text = [&](const std::string& layer, const std::string& image) { return of_layer ? layer : image; };
  return {
      option("colours", &ColourOptions::colours,
             text("Colours of this layer, as those of the image, which are the default.",
                  fmt::format("Colour map: {}. All but coolwarm are perceptually uniform, so equal steps look equal; "
                              "twilight is cyclic, for phases and angles. Or a list of two colours or more, evenly "
                              "spaced and linear in between.",
                              fmt::join(colour_map_names(), ", "))),
             {.standard = text("", "viridis"), .least_entries = 1, .most_entries = 256}),
      option("colour_file", &ColourOptions::file,
             text("The same from a file.",
                  "A file with a colour map, instead of `colours`: on each line `#rrggbb` or three numbers, all from 0 "
                  "to 1 or all from 0 to 255, perhaps after a position. Colours are linear in sRGB in between."),
             {.range_text = path_beside_range}),
      option("range", &ColourOptions::range,
             text("Values at the two ends of this layer's colour map; default: those of the image.",
                  "Values at the two ends of the colour map. Default: the smallest and largest value shown in this "
                  "iteration, with which films flicker. `running`: the smallest and largest value shown so far, "
                  "also before a run was resumed; the table `NAME-ranges.csv` next to the frames keeps them."),
             {.choices = {"running"}, .least_entries = 2, .most_entries = 2}),
      option(
          "scale", &ColourOptions::scale,
          text(
              "The same for this layer; default: that of the image.",
              "`logarithmic`: colours follow the logarithm to the base 10; values that are not above 0 are grey. "
              "`symmetric`: a range that is found in the data is widened to have 0 in its middle. `cyclic`: the range is "
              "a period, as of phases and angles; values are interpolated the shorter way round."),
          {.standard = text("", "linear"),
           .choices = {{"linear", ColourScaling::linear},
                       {"logarithmic", ColourScaling::logarithmic},
                       {"symmetric", ColourScaling::symmetric},
                       {"cyclic", ColourScaling::cyclic}}})};
}

ChosenColours read_colours(const Settings& layer, const Settings& image) {
  const OptionTable<ColourOptions> table = colour_options(true);
  ColourOptions options = table.read(layer);
  const bool own = !options.colours.empty() || options.file;
  const Settings& settings = own ? layer : image;
  if (!own) options = table.read(image);
  if (!options.file) return listed_colours(settings, options.colours);
  if (table.given(settings, &ColourOptions::colours)) {
    table.fail(settings, &ColourOptions::file, "found both 'colours' and 'colour_file'; remove one of them");
  }
  return {{}, colours_in(read_colour_file(settings, *options.file), *options.file)};
}

ChosenRange read_range(const Settings& layer, const Settings& image) {
  const OptionTable<ColourOptions> table = colour_options(true);
  const ColourOptions own = table.read(layer), otherwise = table.read(image);
  const Settings& ranged = own.range.empty() ? image : layer;
  const std::vector<double>& ends = own.range.empty() ? otherwise.range : own.range;
  ChosenRange range{own.scale.value_or(otherwise.scale.value()), checked_ends(ranged, ends), ends.size() == 1};
  if (!range.fixed) {
    if (range.scaling != ColourScaling::cyclic) return range;
    ranged.fail("scale",
                "found `scale: cyclic` without the ends of a range, expected values one period apart; write "
                "`range: [-3.14159265358979, 3.14159265358979]`, for example");
  }
  const double low = range.fixed->low, high = range.fixed->high;
  if (range.scaling == ColourScaling::logarithmic) {
    if (!(low > 0)) {
      ranged.fail("range", fmt::format("found the range [{}, {}] with `scale: logarithmic`, expected numbers above 0; "
                                       "raise the lower one",
                                       low, high));
    }
    range.fixed = logarithmic_range(low, high);
  } else if (range.scaling == ColourScaling::cyclic) {
    range.fixed->period = high - low;
  } else if (range.scaling == ColourScaling::symmetric && low != -high) {
    ranged.fail("range", fmt::format("found the range [{}, {}] with `scale: symmetric`, expected one with 0 in its "
                                     "middle; write it so, or leave `scale` out",
                                     low, high));
  }
  return range;
}

void check_range_of_image(const Settings& image) {
  static_cast<void>(checked_ends(image, colour_options(false).read(image).range));
}

}  // namespace sidestream::rendering
