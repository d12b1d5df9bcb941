// Samples of a picture while it is drawn, and their compact form for sending.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "visualisation/graphics/colour.hpp"

namespace sidestream::rendering {

/// One sample in 64 bits: depth (32), layer (8), colour (24), from the most significant bit down. The smaller sample
/// wins. This is a total order, so the picture is the same whatever the order of drawing and of compositing, and
/// compositing is one comparison.
using Sample = std::uint64_t;

inline constexpr Sample empty_sample = ~Sample{0};

/// The depth of a sample at the camera's depth 1; the next larger number means that there is nothing.
inline constexpr double deepest_depth = 4294967294.0;

[[nodiscard]] constexpr Sample make_sample(std::uint32_t depth, std::uint8_t layer, Colour colour) noexcept {
  return static_cast<Sample>(depth) << 32 | static_cast<Sample>(layer) << 24 | static_cast<Sample>(colour.red) << 16 |
         static_cast<Sample>(colour.green) << 8 | colour.blue;
}
[[nodiscard]] constexpr std::uint32_t depth_of(Sample sample) noexcept {
  return static_cast<std::uint32_t>(sample >> 32);
}
[[nodiscard]] constexpr std::uint8_t layer_of(Sample sample) noexcept {
  return static_cast<std::uint8_t>(sample >> 24);
}
[[nodiscard]] constexpr Colour colour_of(Sample sample) noexcept {
  return {static_cast<std::uint8_t>(sample >> 16), static_cast<std::uint8_t>(sample >> 8),
          static_cast<std::uint8_t>(sample)};
}

/// Rows `first_row` to `first_row + rows` of a picture that is `width` samples wide; all samples empty at
/// first.
class Framebuffer {
 public:
  Framebuffer(std::int64_t width, std::int64_t first_row, std::int64_t rows)
      : width_(width),
        first_row_(first_row),
        rows_(rows),
        samples_(static_cast<std::size_t>(width * rows), empty_sample) {}

  [[nodiscard]] std::int64_t width() const noexcept { return width_; }
  [[nodiscard]] std::int64_t first_row() const noexcept { return first_row_; }
  [[nodiscard]] std::int64_t end_row() const noexcept { return first_row_ + rows_; }
  /// Samples of row `y` of the picture, first_row() <= y < end_row().
  [[nodiscard]] Sample* row(std::int64_t y) noexcept { return samples_.data() + (y - first_row_) * width_; }
  [[nodiscard]] const Sample* row(std::int64_t y) const noexcept { return samples_.data() + (y - first_row_) * width_; }
  void clear() { std::fill(samples_.begin(), samples_.end(), empty_sample); }

 private:
  std::int64_t width_, first_row_, rows_;
  std::vector<Sample> samples_;
};

/// The samples that are not empty, as runs: for each run its row, first column and number, then the samples. Runs are
/// in ascending order of row and column.
[[nodiscard]] Bytes encode_runs(const Framebuffer& framebuffer);

/// Appends to `out` those runs of `runs` whose rows are `wanted`. Throws Error(internal) if the bytes are not runs.
void select_runs(BytesView runs, const std::function<bool(std::int64_t row)>& wanted, Bytes& out);

/// Merges the samples of `runs` into `framebuffer`; the smaller one wins. Throws Error(internal) if a run lies outside.
void merge_runs(BytesView runs, Framebuffer& framebuffer);

/// Merges lists of runs of a picture to one list; the smaller sample wins. Throws Error(internal) if a run ends beyond
/// `width`.
[[nodiscard]] Bytes merged_runs(std::span<const BytesView> lists, std::int64_t width);

}  // namespace sidestream::rendering
