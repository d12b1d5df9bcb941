// Directions in 24 bits. Samples keep them until drawing is complete, and only visible ones get a colour.
#pragma once

#include <cmath>
#include <cstdint>

#include "visualisation/graphics/colour.hpp"
#include "visualisation/mesh/plane.hpp"

namespace sidestream::rendering {

/// Encodes a direction instead of a colour, by the octahedral map (Meyer et al., "On floating-point normal vectors",
/// 2010), 12 bits per axis. The error is below 1/1000, invisible in shades of 8 bits. Directions that are zero or not
/// finite have a code of their own.
inline constexpr double packed_steps = 2047;  ///< on either side of 0
inline constexpr std::uint32_t no_direction = 0xffffff;

[[nodiscard]] inline std::uint32_t pack_normal(const Vec3& n) noexcept {
  const double sum = std::abs(n[0]) + std::abs(n[1]) + std::abs(n[2]);
  if (!(sum > 0) || !(sum < 1e300)) return no_direction;
  const double scale = packed_steps / sum;
  double u = n[0] * scale, v = n[1] * scale;
  if (n[2] < 0) {
    const double folded = std::copysign(packed_steps - std::abs(v), u);
    v = std::copysign(packed_steps - std::abs(u), v);
    u = folded;
  }
  const auto x = static_cast<std::uint32_t>(u + (packed_steps + 0.5)),
             y = static_cast<std::uint32_t>(v + (packed_steps + 0.5));
  return x << 12 | y;
}

/// Decodes to a vector of any length; {0, 0, 0} for no direction.
[[nodiscard]] inline Vec3 unpack_normal(std::uint32_t packed) noexcept {
  if (packed == no_direction) return {0, 0, 0};
  double u = static_cast<double>(packed >> 12) - packed_steps, v = static_cast<double>(packed & 4095) - packed_steps;
  const double w = packed_steps - std::abs(u) - std::abs(v);
  if (w < 0) {
    const double unfolded = std::copysign(packed_steps - std::abs(v), u);
    v = std::copysign(packed_steps - std::abs(u), v);
    u = unfolded;
  }
  return {u, v, w};
}

[[nodiscard]] constexpr Colour colour_of_bits(std::uint32_t bits) noexcept {
  return {static_cast<std::uint8_t>(bits >> 16), static_cast<std::uint8_t>(bits >> 8), static_cast<std::uint8_t>(bits)};
}
[[nodiscard]] constexpr std::uint32_t bits_of_colour(Colour colour) noexcept {
  return static_cast<std::uint32_t>(colour.red) << 16 | static_cast<std::uint32_t>(colour.green) << 8 | colour.blue;
}

}  // namespace sidestream::rendering
