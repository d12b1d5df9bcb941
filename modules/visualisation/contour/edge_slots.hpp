// The vertex on each edge, for the two planes of points around a layer of cells.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "sidestream/data/box.hpp"

namespace sidestream {

/// A slot for every edge that starts at a point of the two planes (along axis 0, 1, 2) and for the point itself (3);
/// -1: no vertex. Only rows that were used are cleared, so that sparse surfaces cost little.
class EdgeSlots {
 public:
  explicit EdgeSlots(const Box& points) : lo_(points.lo), rows_(points.extent(1)), row_(4 * points.extent(0)) {
    for (auto& plane : planes_) {
      plane.slots.assign(static_cast<std::size_t>(rows_ * row_), -1);
      plane.used.assign(static_cast<std::size_t>(rows_), 0);
    }
  }
  /// Moves to the planes k and k + 1. The content of plane k is kept if the planes were k - 1 and k.
  void move_to(Index k) {
    if (k == lower_) return;
    if (k != lower_ + 1) clear(planes_[1]);
    std::swap(planes_[0], planes_[1]);
    clear(planes_[1]);
    lower_ = k;
  }
  [[nodiscard]] Index& at(const Index3& p, int kind) {
    Plane& plane = planes_[p[2] - lower_];
    const Index row = p[1] - lo_[1];
    plane.used[static_cast<std::size_t>(row)] = 1;
    return plane.slots[static_cast<std::size_t>(row * row_ + 4 * (p[0] - lo_[0]) + kind)];
  }

 private:
  struct Plane {
    std::vector<Index> slots;
    std::vector<char> used;
  };
  void clear(Plane& plane) const {
    for (Index j = 0; j < rows_; ++j) {
      if (!plane.used[static_cast<std::size_t>(j)]) continue;
      std::fill_n(plane.slots.begin() + j * row_, row_, Index{-1});
      plane.used[static_cast<std::size_t>(j)] = 0;
    }
  }

  Index3 lo_;
  Index rows_, row_;
  Index lower_ = -(Index{1} << 62);
  Plane planes_[2];
};

}  // namespace sidestream
