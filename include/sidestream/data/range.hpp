// Extremes of values: the metadata for planning isosurfaces.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "sidestream/data/array.hpp"

namespace sidestream {

/// The smallest and the largest of some numbers, without NaNs; empty if there were no numbers. Trivially copyable.
struct Range {
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -std::numeric_limits<double>::infinity();

  [[nodiscard]] constexpr bool empty() const noexcept { return minimum > maximum; }
  constexpr void add(const Range& other) noexcept {
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
  }
  /// True if a surface of `value` may pass between these numbers: some are below it, some are not.
  [[nodiscard]] constexpr bool brackets(double value) const noexcept { return minimum < value && maximum >= value; }
  /// True if one of these numbers, or a number between them, may lie inside an open interval.
  [[nodiscard]] constexpr bool meets(double low, double high) const noexcept { return minimum < high && maximum > low; }
  constexpr bool operator==(const Range&) const noexcept = default;
};

/// The intersection of two ranges: a bound for numbers that are in both sets.
[[nodiscard]] constexpr Range intersection(const Range& a, const Range& b) noexcept {
  return {std::max(a.minimum, b.minimum), std::min(a.maximum, b.maximum)};
}

/// Identifies a requested range.
struct RangeRequest {
  std::int32_t variable = -1;
  std::int32_t component = 0;
  constexpr bool operator==(const RangeRequest&) const noexcept = default;
};

/// Extremes of one block's points (without ghosts), converted to doubles. The layers that a lower neighbour needs have
/// separate ranges: cells between two blocks belong to the lower block, which must know the first values of the upper
/// block. Trivially copyable: part of messages.
struct BlockRange {
  std::int64_t block = 0;
  std::int32_t variable = -1;
  std::int32_t component = 0;
  Range all;
  /// lowest[m - 1]: range of the points at the lowest index on every axis in the bit mask m (1: i, 2: j, 4: k). These
  /// are the three lower faces, the edges between them and their corner.
  std::array<Range, 7> lowest;
};

/// Extremes of some points of a block on refinement levels, or of the leaves of a tree, for which BlockRange includes
/// too many. If `beside` is the block itself: all cells that count, which are the cells that no finer level covers, or
/// the leaves that the block owns. Otherwise: the cells among these that touch counting cells of the block `beside`, on
/// any level. For variables at nodes it has all nodes of these cells. Trivially copyable: part of messages.
struct CountedRange {
  std::int64_t block = 0;
  std::int64_t beside = 0;
  std::int32_t variable = -1;
  std::int32_t component = 0;
  Range range;
};

/// Points of a block whose range a server asks for.
struct RangeRegion {
  /// `cells`: points of cells that count; `rim`: points of the cells among these that touch the block `beside`;
  /// `leaves`: the points of a tree at which the variable `refined` is 0 and the variable `owned`, if there is one, is
  /// not 0. Without `refined`: all points.
  enum class Kind : std::int32_t { cells = 0, rim = 1, leaves = 2 };
  std::int64_t block = 0;
  std::int64_t beside = 0;
  Kind kind = Kind::cells;
  std::int32_t client = 0;  ///< the block's client
  std::int32_t variable = -1;
  std::int32_t component = 0;
  std::int32_t refined = -1, owned = -1;
  Box points;  ///< may be empty
};

/// Measures the ranges of component `component` of `points` (inside `array.box`). 64-bit integers beyond 2^53 are
/// rounded outwards by at most one unit in the last place. Fills `all` and `lowest`.
void measure_range(const ArrayView& array, const Box& points, int component, BlockRange& result);

/// Measures only the values of a list whose entry in `uncounted` is 0.
[[nodiscard]] Range measure_counted(const ArrayView& array, int component, std::span<const std::uint8_t> uncounted);

}  // namespace sidestream
