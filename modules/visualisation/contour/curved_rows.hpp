// Rows of positions of a curved grid's points, as the surface kernel reads them.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "sidestream/data/block.hpp"

namespace sidestream {

/// Rows of a box that are computed on request and kept for a while: those of the last four planes.
template <class C>
class RowRing {
 public:
  explicit RowRing(const Box& box) : box_(box) {}
  /// Memory for three coordinates of each point of a row, and true if they have to be computed.
  [[nodiscard]] std::pair<C*, bool> at(Index j, Index k) {
    constexpr Index kept = 4;
    const Index rows = box_.extent(1), row = 3 * box_.extent(0), none = box_.lo[2] - 1;
    if (plane_of_.empty()) {
      plane_of_.assign(static_cast<std::size_t>(kept * rows), none);
      values_.resize(static_cast<std::size_t>(kept * rows * row));
    }
    const Index slot = (k - box_.lo[2]) % kept * rows + (j - box_.lo[1]);
    const bool fresh = std::exchange(plane_of_[static_cast<std::size_t>(slot)], k) != k;
    return {values_.data() + slot * row, fresh};
  }

 private:
  Box box_;
  std::vector<Index> plane_of_;
  std::vector<C> values_;
};

/// Coordinates of the nodes in a box in and around a block: read where they were published, copied where a row is not
/// all in one array. C is the type in which they were published.
template <class C>
class NodeRows {
 public:
  using Number = C;
  /// `coordinates` may be null; nodes that are not available are NaN. Keeps the pointer.
  NodeRows(const BlockView* coordinates, const Box& box);
  /// The row from the box's first node on, valid until the plane four further on is asked for. Component d of the n-th
  /// node is at n * step() + d * next().
  [[nodiscard]] const C* row(Index j, Index k) {
    const C* there = in_place(j, k);
    return there != nullptr ? there : copied(j, k);
  }
  /// The row if it is read in place, or null.
  [[nodiscard]] const C* in_place(Index j, Index k) const noexcept {
    const bool there = direct_.contains(Index3{box_.lo[0], j, k});
    return there ? view_->array.at<C>(box_.lo[0], j, k) : nullptr;
  }
  [[nodiscard]] Index step() const noexcept { return step_; }
  [[nodiscard]] Index next() const noexcept { return next_; }
  /// True if rows are x y z x y z ...
  [[nodiscard]] bool interleaved() const noexcept { return step_ == 3 && next_ == 1; }

 private:
  [[nodiscard]] const C* copied(Index j, Index k);
  void copy(Index j, Index k, C* to) const;
  void copy(const ArrayView& array, const Box& part, C* to) const;

  const BlockView* view_;
  Box box_;
  Box direct_{};  ///< box of whole rows that are read in place
  Index step_ = 3, next_ = 1;
  RowRing<C> copies_;
};

extern template class NodeRows<float>;
extern template class NodeRows<double>;

/// The centres of cells: the mean of a cell's eight nodes. C is the type of the nodes' coordinates.
template <class C>
class MiddleRows {
 public:
  using Number = double;
  /// `box` has cells that the mesh has.
  MiddleRows(const BlockView* coordinates, const Box& box)
      : box_(box), nodes_(coordinates, {box.lo, {box.hi[0] + 1, box.hi[1] + 1, box.hi[2] + 1}}), middles_(box) {}
  [[nodiscard]] const double* row(Index j, Index k);
  [[nodiscard]] const double* in_place(Index, Index) const noexcept { return nullptr; }
  [[nodiscard]] Index step() const noexcept { return 3; }
  [[nodiscard]] Index next() const noexcept { return 1; }
  [[nodiscard]] bool interleaved() const noexcept { return true; }

 private:
  Box box_;
  NodeRows<C> nodes_;
  RowRing<double> middles_;
};

extern template class MiddleRows<float>;
extern template class MiddleRows<double>;

}  // namespace sidestream
