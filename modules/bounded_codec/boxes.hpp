// Boxes of points that together have the elements of a chunk.
//
// A chunk is cut out of an array anywhere. Prediction wants as many dimensions as possible, so its elements become
//
//   part of a line | whole lines | whole layers | whole lines | part of a line
//
// for each component, one component after the other.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sidestream/extend/codec.hpp"

namespace sidestream::bounded {

struct PointBox {
  std::array<std::uint64_t, 3> extents{1, 1, 1};
  std::uint64_t element = 0;  ///< number in the chunk of the first point's element
  std::uint64_t step = 1;     ///< elements from one point to the next

  [[nodiscard]] std::uint64_t points() const noexcept { return extents[0] * extents[1] * extents[2]; }
};

/// The boxes of `count` elements at `place`.
[[nodiscard]] std::vector<PointBox> boxes_of(const ChunkPlace& place, std::uint64_t count);

}  // namespace sidestream::bounded
