// Colours, and colour maps, which have a colour for each value in a range.
//
// Colours have 8 bits per channel in sRGB, as in PNG; light is added in linear 16-bit values. Users bring maps of their
// own as lists of colours, or as files with one colour a line.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sidestream::rendering {

struct Colour {
  std::uint8_t red = 0, green = 0, blue = 0;
  constexpr bool operator==(const Colour&) const noexcept = default;
};

/// Reads `#rrggbb`, `#rgb`, or one of a few names (`white`, `steelblue`, ...). Nothing if it is none of
/// these.
[[nodiscard]] std::optional<Colour> parse_colour(const std::string& text);

/// The names that parse_colour knows, for messages.
[[nodiscard]] std::vector<std::string> colour_names();

/// Converts 0..255 sRGB to 0..65535 linear, by table. Light is added in linear values: averaging sRGB values would make
/// antialiased edges too dark.
[[nodiscard]] std::uint16_t to_linear(std::uint8_t value);
/// Converts 0..65535 linear to 0..255 sRGB, by table.
[[nodiscard]] std::uint8_t to_srgb(std::uint32_t value);

/// `a` where t = 0, `b` where t = 1, mixed as light.
[[nodiscard]] Colour mix(Colour a, Colour b, double t);

/// Slightly softened black or white, whichever is legible on `background`.
[[nodiscard]] Colour ink_on(Colour background);

// Colour maps: a colour for each value in a range.

/// A colour of a map of the user's own, at a position between 0 and 1. Channels are from 0 to 1, in sRGB.
struct ColourStop {
  double position = 0;
  std::array<double, 3> rgb{};
  constexpr bool operator==(const ColourStop&) const noexcept = default;
};

/// A table of colours between two ends. All maps except coolwarm and grey are those of Matplotlib (CC0: viridis,
/// inferno, magma, plasma by S. van der Walt and N. Smith; cividis by Nunez, Anderton and Renslow; twilight by B.
/// Bechtold). They are perceptually uniform: equal steps in value look equal, and lightness rises from end to end.
/// coolwarm is Moreland's diverging map (2009). twilight is cyclic, for angles and phases: both ends have the same
/// colour, and it is darkest in the middle.
class ColourMap {
 public:
  /// The map of that name, one of colour_map_names(). Throws Error(usage) otherwise.
  explicit ColourMap(const std::string& name);
  /// The colours of `stops`, linear in sRGB in between, as Matplotlib's LinearSegmentedColormap. Requires two stops or
  /// more, at positions that ascend from 0 to 1.
  explicit ColourMap(std::span<const ColourStop> stops);
  /// Colour at t in [0, 1]; values outside get the end's colour, NaN a neutral grey.
  [[nodiscard]] Colour at(double t) const noexcept {
    if (!(t == t)) return {150, 150, 150};
    const double entry = t * entries;
    return table_[entry <= 0 ? 0 : entry >= entries ? entries - 1 : static_cast<int>(entry)];
  }

 private:
  static constexpr int entries = 1024;  ///< more than 8-bit channels can distinguish
  std::array<Colour, entries> table_;
};

/// Lower and upper end of a colour map's range. Colours go with the value, or with its logarithm.
struct ColourRange {
  double low = 0, high = 1;
  double low_power = 0, high_power = 0;  ///< logarithms of the ends to the base 10; equal: the range is linear
  double period = 0;                     ///< the range's width if values a period apart are equal, otherwise 0

  [[nodiscard]] bool is_logarithmic() const noexcept { return low_power < high_power; }
  /// Place of a value between the ends, from 0 to 1. NaN for values without a logarithm, in a logarithmic range.
  [[nodiscard]] double fraction(double value) const noexcept {
    if (!is_logarithmic()) {
      const double place = (value - low) / (high - low);
      return period > 0 ? place - std::floor(place) : place;
    }
    if (!(value > 0)) return std::numeric_limits<double>::quiet_NaN();
    return (std::log10(value) - low_power) / (high_power - low_power);
  }
};

/// A usable range for values between `low` and `high`: itself if high > low; a range around the value if they are
/// equal; 0 to 1 if low > high (there was no value at all).
[[nodiscard]] ColourRange usable_range(double low, double high) noexcept;

/// The ways in which colours go with values. `symmetric`: a linear range with 0 in its middle. `cyclic`: a linear range
/// that is a period.
enum class ColourScaling { linear, logarithmic, symmetric, cyclic };

/// The logarithmic range from `low` to `high`, widened if they are equal or too near to each other. If `low` is not
/// above 0, the range has six powers of ten; if `high` is not, either, it is 1 to 10.
[[nodiscard]] ColourRange logarithmic_range(double low, double high) noexcept;

/// A usable range of that scaling for values between `low` and `high`; low > high if there was no value at all.
[[nodiscard]] ColourRange usable_range(double low, double high, ColourScaling scaling) noexcept;

/// Colours at even distances. Requires two or more.
[[nodiscard]] std::vector<ColourStop> evenly_spaced(const std::vector<Colour>& colours);

/// Reads a colour from each line of `text`: `#rrggbb`, a name that parse_colour knows, or three numbers, with blanks,
/// commas or semicolons in between. The numbers of all lines are from 0 to 1 or, if one of them is above 1, from 0 to
/// 255. A position may precede the colour, in all lines or in none; positions do not descend, and are mapped to 0
/// ... 1. Empty lines, and those that begin with "# " or "//", are left out. Throws Error(configuration) that names
/// `file` and the line.
[[nodiscard]] std::vector<ColourStop> colours_in(const std::string& text, const std::string& file);

}  // namespace sidestream::rendering
