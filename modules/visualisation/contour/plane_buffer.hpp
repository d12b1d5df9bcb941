// A few consecutive planes of numbers, moved along k through a block.
#pragma once

#include <vector>

#include "visualisation/mesh/field_source.hpp"

namespace sidestream {

/// Values of a source in a box that moves upwards. Planes in both the old and the new box are kept, the others filled.
class PlaneBuffer {
 public:
  /// Least and greatest value of a row along i, ignoring NaN, and true if all of it is finite.
  struct Row {
    double low = 0, high = 0;
    bool finite = true;
  };

  explicit PlaneBuffer(ScalarSource& source) : source_(source) {}
  /// Makes the values of `box` available.
  void move_to(const Box& box);

  [[nodiscard]] const Box& box() const noexcept { return box_; }
  [[nodiscard]] const double* row(Index j, Index k) const noexcept {  ///< from box().lo[0] on
    return values_.data() + row_number(j, k) * box_.extent(0);
  }
  [[nodiscard]] double at(const Index3& p) const noexcept { return row(p[1], p[2])[p[0] - box_.lo[0]]; }
  [[nodiscard]] const Row& summary(Index j, Index k) const noexcept {
    return rows_[static_cast<std::size_t>(row_number(j, k))];
  }

 private:
  [[nodiscard]] Index row_number(Index j, Index k) const noexcept {
    return (k - box_.lo[2]) * box_.extent(1) + (j - box_.lo[1]);
  }

  ScalarSource& source_;
  Box box_;
  std::vector<double> values_;
  std::vector<Row> rows_;
};

}  // namespace sidestream
