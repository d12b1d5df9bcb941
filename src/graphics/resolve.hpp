// From samples to pixels.
#pragma once

#include <cstdint>
#include <optional>

#include "graphics/framebuffer.hpp"
#include "sidestream/data/result.hpp"

namespace sidestream::rendering {

/// What is seen where nothing is drawn: one colour, or a gradient from the first to the last row.
struct Background {
  Colour top, bottom;
  [[nodiscard]] Colour at(std::int64_t row, std::int64_t height) const {
    if (top == bottom || height < 2) return top;
    return mix(top, bottom, static_cast<double>(row) / static_cast<double>(height - 1));
  }
};

/// The rows of a picture of `height` pixel rows that a stripe holds, each pixel the mean light of its samples
/// x samples block. The stripe's rows and width are multiples of `samples`. Red, green, blue, alpha from the
/// stripe's first row.
[[nodiscard]] std::vector<std::uint8_t> resolve(const Framebuffer& stripe, int samples, std::int64_t height,
                                                const Background& background);

}  // namespace sidestream::rendering
