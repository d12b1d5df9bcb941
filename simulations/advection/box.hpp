// Boxes of cells, half-open, and arrays over them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace advection {

using Index = std::int32_t;
using Index3 = std::array<Index, 3>;

/// The cells lo <= index < hi of a level, or its faces along an axis. In two dimensions z is [0, 1).
struct Box {
  Index3 lo{0, 0, 0}, hi{0, 0, 0};
  [[nodiscard]] Index size(std::size_t axis) const { return hi[axis] - lo[axis]; }
  [[nodiscard]] bool empty() const { return size(0) <= 0 || size(1) <= 0 || size(2) <= 0; }
  [[nodiscard]] std::int64_t count() const {
    return empty() ? 0 : std::int64_t{size(0)} * std::int64_t{size(1)} * std::int64_t{size(2)};
  }
  bool operator==(const Box&) const = default;
};

[[nodiscard]] inline Box intersection(const Box& a, const Box& b) {
  Box both;
  for (std::size_t n = 0; n < 3; ++n) {
    both.lo[n] = std::max(a.lo[n], b.lo[n]);
    both.hi[n] = std::min(a.hi[n], b.hi[n]);
  }
  return both;
}

/// Grows a box by `width` cells on both sides of the first `axes` axes.
[[nodiscard]] inline Box grown(Box box, Index width, int axes) {
  for (std::size_t n = 0; n < static_cast<std::size_t>(axes); ++n) {
    box.lo[n] -= width;
    box.hi[n] += width;
  }
  return box;
}

[[nodiscard]] inline Box shifted(Box box, const Index3& by) {
  for (std::size_t n = 0; n < 3; ++n) {
    box.lo[n] += by[n];
    box.hi[n] += by[n];
  }
  return box;
}

[[nodiscard]] inline Index floor_of(Index a, Index b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

/// The cells of the coarser level that overlap `box`.
[[nodiscard]] inline Box coarsened(Box box, const Index3& ratio) {
  for (std::size_t n = 0; n < 3; ++n) {
    box.lo[n] = floor_of(box.lo[n], ratio[n]);
    box.hi[n] = floor_of(box.hi[n] - 1, ratio[n]) + 1;
  }
  return box;
}

[[nodiscard]] inline Box refined(Box box, const Index3& ratio) {
  for (std::size_t n = 0; n < 3; ++n) {
    box.lo[n] *= ratio[n];
    box.hi[n] *= ratio[n];
  }
  return box;
}

/// The faces normal to `axis`, including those on both ends.
[[nodiscard]] inline Box faces_of(Box cells, std::size_t axis) {
  ++cells.hi[axis];
  return cells;
}

/// Calls f(i, j, k) for each index of the box, i fastest.
template <class F>
void for_each(const Box& box, const F& f) {
  for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
    for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
      for (Index i = box.lo[0]; i < box.hi[0]; ++i) f(i, j, k);
    }
  }
}

/// A number for each index of a box, i fastest.
class Field {
 public:
  Field() = default;
  explicit Field(const Box& box) : box_(box), values_(static_cast<std::size_t>(box.count()), 0.0) {}
  [[nodiscard]] const Box& box() const { return box_; }
  [[nodiscard]] double& at(Index i, Index j, Index k) { return values_[place(i, j, k)]; }
  [[nodiscard]] double at(Index i, Index j, Index k) const { return values_[place(i, j, k)]; }
  [[nodiscard]] const double* data() const { return values_.data(); }
  [[nodiscard]] double* data() { return values_.data(); }
  /// Distance in memory of neighbours along an axis.
  [[nodiscard]] std::ptrdiff_t stride(std::size_t axis) const {
    const std::ptrdiff_t row = box_.size(0);
    return axis == 0 ? 1 : axis == 1 ? row : row * box_.size(1);
  }
  [[nodiscard]] std::size_t place(Index i, Index j, Index k) const {
    return static_cast<std::size_t>((i - box_.lo[0]) + stride(1) * (j - box_.lo[1]) + stride(2) * (k - box_.lo[2]));
  }
  [[nodiscard]] double& operator[](std::size_t place) { return values_[place]; }
  [[nodiscard]] double operator[](std::size_t place) const { return values_[place]; }

 private:
  Box box_;
  std::vector<double> values_;
};

}  // namespace advection
