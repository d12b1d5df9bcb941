// Combination of the pictures of all servers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "graphics/framebuffer.hpp"
#include "sidestream/data/result.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::rendering {

/// Composites pictures by direct send. Collective. `partials` are pictures as runs (encode_runs), any number on each
/// member. Every member sends each other one the part of its runs that lies in that member's stripe, and returns its
/// own stripe, complete.
[[nodiscard]] Framebuffer composite(std::span<const Bytes> partials, std::int64_t width, std::int64_t height,
                                    std::int64_t unit, Communicator& communicator);

// Conversion of samples to pixels.

/// The background, where nothing is drawn: one colour, or a gradient from the first to the last row.
struct Background {
  Colour top, bottom;
  [[nodiscard]] Colour at(std::int64_t row, std::int64_t height) const {
    if (top == bottom || height < 2) return top;
    return mix(top, bottom, static_cast<double>(row) / static_cast<double>(height - 1));
  }
};

/// Converts a stripe of a picture of `height` pixel rows: each pixel is the mean light of its samples x samples block.
/// The stripe's rows and width are multiples of `samples`. Returns red, green, blue, alpha from the stripe's first row
/// on.
[[nodiscard]] std::vector<std::uint8_t> resolve(const Framebuffer& stripe, int samples, std::int64_t height,
                                                const Background& background);

}  // namespace sidestream::rendering
