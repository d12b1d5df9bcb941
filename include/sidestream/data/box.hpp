// Boxes of indices: half-open, 64-bit, always in (i, j, k) whatever the storage order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace sidestream {

using Index = std::int64_t;
using Index3 = std::array<Index, 3>;

/// The indices lo <= x < hi on each axis. Trivially copyable: part of messages and shared memory.
struct Box {
  Index3 lo{0, 0, 0};
  Index3 hi{0, 0, 0};

  [[nodiscard]] constexpr bool empty() const noexcept { return hi[0] <= lo[0] || hi[1] <= lo[1] || hi[2] <= lo[2]; }
  /// Number of indices on an axis; 0 where hi <= lo.
  [[nodiscard]] constexpr Index extent(int axis) const noexcept { return std::max<Index>(0, hi[axis] - lo[axis]); }
  /// Number of points in the box; 0 when empty. Throws Error if it exceeds 2^63 - 1.
  [[nodiscard]] Index count() const;
  [[nodiscard]] constexpr bool contains(const Index3& p) const noexcept {
    return p[0] >= lo[0] && p[0] < hi[0] && p[1] >= lo[1] && p[1] < hi[1] && p[2] >= lo[2] && p[2] < hi[2];
  }
  /// True if `other` lies inside this box; an empty box lies inside every box.
  [[nodiscard]] constexpr bool contains(const Box& other) const noexcept {
    if (other.empty()) return true;
    for (int a = 0; a < 3; ++a) {
      if (other.lo[a] < lo[a] || other.hi[a] > hi[a]) return false;
    }
    return true;
  }
  bool operator==(const Box& other) const noexcept { return lo == other.lo && hi == other.hi; }
};

/// The indices in both boxes (perhaps empty).
[[nodiscard]] constexpr Box intersection(const Box& a, const Box& b) noexcept {
  Box r;
  for (int x = 0; x < 3; ++x) {
    r.lo[x] = std::max(a.lo[x], b.lo[x]);
    r.hi[x] = std::min(a.hi[x], b.hi[x]);
  }
  return r;
}

/// The box with `width` more indices on every side.
[[nodiscard]] constexpr Box grown(Box box, Index width) noexcept {
  for (int x = 0; x < 3; ++x) {
    box.lo[x] -= width;
    box.hi[x] += width;
  }
  return box;
}

/// `box` without `hole`, as at most six disjoint non-empty boxes.
[[nodiscard]] std::vector<Box> difference(const Box& box, const Box& hole);

/// Each of `boxes` without `hole`.
[[nodiscard]] std::vector<Box> difference(const std::vector<Box>& boxes, const Box& hole);

}  // namespace sidestream
