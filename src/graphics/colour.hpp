// Colours: 8 bits per channel in sRGB, as in the PNG; sums of light are formed in linear 16-bit values.
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

/// Light is added in linear values: averaging sRGB values would make antialiased edges too dark.
/// 0..255 sRGB -> 0..65535 linear, by table.
[[nodiscard]] std::uint16_t to_linear(std::uint8_t value);
/// 0..65535 linear -> 0..255 sRGB, by table.
[[nodiscard]] std::uint8_t to_srgb(std::uint32_t value);

/// `a` where t = 0, `b` where t = 1, mixed as light.
[[nodiscard]] Colour mix(Colour a, Colour b, double t);

/// Black or white, whichever can be read on `background`, slightly softened.
[[nodiscard]] Colour ink_on(Colour background);

}  // namespace sidestream::rendering
