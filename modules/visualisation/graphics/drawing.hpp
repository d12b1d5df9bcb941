// A picture while it is drawn: the nearest opaque samples, translucent samples, and the light of volumes.
#pragma once

#include <cstdint>

#include "visualisation/graphics/framebuffer.hpp"
#include "visualisation/graphics/light_slabs.hpp"
#include "visualisation/graphics/sparse_rows.hpp"

namespace sidestream::rendering {

/// One sample of a translucent surface, in a row of samples. Any number may lie behind one another.
struct Fragment {
  Sample sample = empty_sample;
  std::uint32_t column = 0, reserved = 0;
};

/// Rows `first_row` to `first_row + rows` of a picture that is `width` samples wide. Both numbers of rows are multiples
/// of `samples`, the samples along each axis of a pixel.
struct Drawing {
  Drawing(std::int64_t width, std::int64_t first_row, std::int64_t rows, int samples_of_pixel)
      : samples(samples_of_pixel),
        opaque(width, first_row, rows),
        fragments(first_row, rows),
        slabs(first_row / samples_of_pixel, rows / samples_of_pixel) {}
  void clear() {
    opaque.clear();
    fragments.clear();
    slabs.clear();
  }

  int samples;
  Framebuffer opaque;
  SparseRows<Fragment> fragments;  ///< by row of samples
  SparseRows<SlabRecord> slabs;    ///< by row of pixels
};

/// The drawing in a form to be sent and composited (compositing.hpp).
[[nodiscard]] Bytes encode(const Drawing& drawing);

}  // namespace sidestream::rendering
