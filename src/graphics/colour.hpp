// Colours: 8 bits per channel in sRGB, as in PNG; light is added in linear 16-bit values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
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

/// A table of colours between two ends. All maps except coolwarm and grey are those of Matplotlib (CC0: viridis,
/// inferno, magma, plasma by S. van der Walt and N. Smith; cividis by Nunez, Anderton and Renslow). They are
/// perceptually uniform: equal steps in value look equal, and lightness rises from end to end. coolwarm is Moreland's
/// diverging map (2009).
class ColourMap {
 public:
  /// The map of that name, one of `names()`. Throws Error(usage) otherwise.
  explicit ColourMap(const std::string& name);
  /// Colour at t in [0, 1]; values outside get the end's colour, NaN a neutral grey.
  [[nodiscard]] Colour at(double t) const noexcept {
    if (!(t == t)) return {150, 150, 150};
    const double entry = t * entries;
    return table_[entry <= 0 ? 0 : entry >= entries ? entries - 1 : static_cast<int>(entry)];
  }
  [[nodiscard]] static std::vector<std::string> names();

 private:
  static constexpr int entries = 1024;  ///< more than 8-bit channels can distinguish
  std::array<Colour, entries> table_;
};

/// Lower and upper end of a colour map's range.
struct ColourRange {
  double low = 0, high = 1;
  [[nodiscard]] double fraction(double value) const noexcept { return (value - low) / (high - low); }
};

/// A usable range for values between `low` and `high`: itself if high > low; a range around the value if they are
/// equal; 0 to 1 if low > high (there was no value at all).
[[nodiscard]] ColourRange usable_range(double low, double high) noexcept;

}  // namespace sidestream::rendering
