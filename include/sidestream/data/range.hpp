// Extremes of values: the metadata that isosurfaces are planned with.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "sidestream/data/array.hpp"

namespace sidestream {

/// The smallest and the largest of some numbers, NaN left out; empty if there were none. Trivially copyable.
struct Range {
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -std::numeric_limits<double>::infinity();

  [[nodiscard]] constexpr bool empty() const noexcept { return minimum > maximum; }
  constexpr void add(const Range& other) noexcept {
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
  }
  /// Whether a surface of `value` may pass between these numbers: some are below it, some are not.
  [[nodiscard]] constexpr bool brackets(double value) const noexcept { return minimum < value && maximum >= value; }
  constexpr bool operator==(const Range&) const noexcept = default;
};

/// What both ranges may have in common: a bound for numbers that are in both sets.
[[nodiscard]] constexpr Range intersection(const Range& a, const Range& b) noexcept {
  return {std::max(a.minimum, b.minimum), std::min(a.maximum, b.maximum)};
}

/// Which range is asked for.
struct RangeRequest {
  std::int32_t variable = -1;
  std::int32_t component = 0;
  constexpr bool operator==(const RangeRequest&) const noexcept = default;
};

/// Extremes on one block, of its points (ghosts left out), converted to doubles. What a lower neighbour sees of the
/// block has ranges of its own: cells between two blocks belong to the lower one, which needs to know what the upper
/// one begins with. Trivially copyable: part of messages.
struct BlockRange {
  std::int64_t block = 0;
  std::int32_t variable = -1;
  std::int32_t component = 0;
  Range all;
  /// lowest[m - 1]: of the points at the lowest index on every axis in the bit mask m (1: i, 2: j, 4: k): the three
  /// lower faces, the edges between them, their corner.
  std::array<Range, 7> lowest;
};

/// The ranges of component `component` of `points` (inside `array.box`). 64-bit integers beyond 2^53 are rounded
/// outwards by at most one unit of the last place. Fills `all` and `lowest`.
void measure_range(const ArrayView& array, const Box& points, int component, BlockRange& result);

}  // namespace sidestream
