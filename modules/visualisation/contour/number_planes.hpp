// The numbers of a block in their own type, a few planes of points at a time.
#pragma once

#include <vector>

#include "sidestream/data/block.hpp"

namespace sidestream {

/// Rows along i of one component in a box of points in and around a block. Rows are read in place where they are
/// contiguous in the published array, otherwise planes are copied. T is float for float32, double for everything else.
template <class T>
class NumberPlanes {
 public:
  /// Keeps a reference to `view`. Points of the box that are not available are NaN.
  NumberPlanes(const BlockView& view, int component, const Box& box);

  [[nodiscard]] const Box& box() const noexcept { return box_; }
  /// Makes plane k available. The last four planes are kept; earlier ones may be gone.
  void load(Index k);
  /// The row from box().lo[0] on; the plane must have been loaded.
  [[nodiscard]] const T* row(Index j, Index k) const noexcept {
    if (direct_ != nullptr) return direct_ + (j - box_.lo[1]) * step_[0] + (k - box_.lo[2]) * step_[1];
    return values_.data() + slot(k) * plane_ + (j - box_.lo[1]) * box_.extent(0);
  }

 private:
  [[nodiscard]] Index slot(Index k) const noexcept { return (k - box_.lo[2]) % kept_; }
  void copy(const ArrayView& array, const Box& part);

  const BlockView& view_;
  int component_;
  Box box_;
  const T* direct_ = nullptr;  ///< the box's first point, if all of it is in one array
  Index step_[2] = {0, 0};     ///< there: steps between rows and between planes
  Index plane_;
  Index together_, kept_;  ///< planes copied and held at once: arrays that run fastest along k are read along k
  std::vector<T> values_;
  Index loaded_;  ///< the first plane that has not been copied
};

extern template class NumberPlanes<float>;
extern template class NumberPlanes<double>;

}  // namespace sidestream
