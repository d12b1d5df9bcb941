// Combination of the pictures of all servers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "sidestream/data/result.hpp"
#include "sidestream/extend/communicator.hpp"
#include "visualisation/graphics/drawing.hpp"
#include "visualisation/graphics/stripes.hpp"

namespace sidestream::rendering {

/// Composites pictures. Collective. `partials` are encoded drawings, any number on each member, of a picture that is
/// `width` samples wide with `samples` along each axis of a pixel; `stripes` divides its rows among the members. Each
/// member returns its own stripe, complete. It sends at most radix - 1 messages in each of the rounds, whose number
/// grows with the logarithm of the group's size.
[[nodiscard]] Drawing composite(std::span<const Bytes> partials, std::int64_t width, int samples,
                                const Stripes& stripes, Communicator& communicator);

// Conversion of samples to pixels.

/// The background, where nothing is drawn: one colour, or a gradient from the first to the last row.
struct Background {
  Colour top, bottom;
  [[nodiscard]] Colour at(std::int64_t row, std::int64_t height) const {
    if (top == bottom || height < 2) return top;
    return mix(top, bottom, static_cast<double>(row) / static_cast<double>(height - 1));
  }
};

/// The numbers by which translucent samples and volumes are seen.
struct Translucency {
  std::array<double, 256> opacity;  ///< by layer of a sample, 0 to 1
  const Camera* camera = nullptr;   ///< that of the drawing
  std::optional<DepthSlabs> slabs;  ///< of the volumes, if there are any
};

/// Converts a stripe of a picture of `height` pixel rows. Each sample is the light of its translucent samples and slabs
/// in front of the opaque sample, from front to back, and each pixel is the mean light of its samples. The stripe's
/// records are put in order. Returns red, green, blue, alpha from the stripe's first row on.
[[nodiscard]] std::vector<std::uint8_t> resolve(Drawing& stripe, std::int64_t height, const Background& background,
                                                const Translucency& translucency);

}  // namespace sidestream::rendering
