// Positions of the points of a curvilinear mesh, from the coordinates of its nodes.
//
// CurvedPoints has them for one box of points at a time, NodeRows and MiddleRows row by row, as the surface kernel
// reads them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/kit/mesh/point_grid.hpp"
#include "visualisation/mesh/field_source.hpp"
#include "visualisation/mesh/plane.hpp"

namespace sidestream {

/// Converts numbers at the nodes in and around one block to the points of a grid. Nodes keep their numbers, a cell's
/// centre gets the mean of its nodes, and a virtual point the mean of the nodes next to it, which places it at the
/// centre of a face. Means are of pairs along i, then j, then k, so that the order of the sums is the same for every
/// block.
class NodeNumbers {
 public:
  /// `nodes` are all nodes of the mesh.
  NodeNumbers(const PointGrid& grid, const Box& nodes) : grid_(grid), nodes_(nodes) {}
  /// The nodes that the points of `region` need.
  [[nodiscard]] Box around(const Box& region) const;
  /// Converts `values`, at around(region), i fastest, to the points of `region`.
  void take(const std::vector<double>& values, const Box& region, double* out) const;
  /// The node on a side of a cell's centre along an axis.
  [[nodiscard]] Index next_to(Index cell, int side, int axis) const noexcept {
    return std::clamp(cell + side, nodes_.lo[axis], nodes_.hi[axis] - 1);
  }

 private:
  const PointGrid& grid_;
  Box nodes_;
};

/// The positions of a grid's points in one block, for one box of points at a time.
class CurvedPoints {
 public:
  /// `coordinates` may be null (they were not delivered): then no point has a position. `dense` means that every point
  /// will be asked for, which is worth a copy. Keeps references.
  CurvedPoints(const PointGrid& grid, const Mesh& mesh, const Metadata& metadata, const BlockView* coordinates,
               bool dense);
  /// Makes the positions of these points available, as far as the block's coordinates and their halo extend; NaN
  /// beyond.
  void move_to(const Box& points);
  [[nodiscard]] std::array<double, 3> at(const Index3& p) const noexcept {
    if (!dense_) return at_nodes_ ? node(p) : middle(p);
    const auto n = static_cast<std::size_t>(
        ((p[2] - box_.lo[2]) * box_.extent(1) + (p[1] - box_.lo[1])) * box_.extent(0) + (p[0] - box_.lo[0]));
    return places_[n];
  }
  /// Volume of the cell above a point: negative if its axes are left-handed, 0 if it is degenerate.
  [[nodiscard]] double volume(const Index3& cell) const noexcept;
  /// Likewise in two dimensions; not finite if a corner has no position.
  [[nodiscard]] double area(const Index3& cell) const noexcept;
  [[nodiscard]] const BlockView* coordinates() const noexcept { return view_; }
  /// Prefetches a point that will be asked for soon.
  void announce(const Index3& p) const noexcept {
    if (dense_ || !direct_.contains(p)) return;
    const ArrayView& array = view_->array;
    __builtin_prefetch(static_cast<const char*>(array.data) +
                       (array.at<char>(p[0], p[1], p[2]) - static_cast<const char*>(array.data)) *
                           static_cast<std::ptrdiff_t>(size_of(array.type)));
  }
  /// True if the coordinates run fastest along k.
  [[nodiscard]] bool along_k() const noexcept {
    return view_ != nullptr && std::abs(view_->array.strides[2]) < std::abs(view_->array.strides[0]);
  }
  /// True if the points are the mesh's nodes; otherwise they are the centres of its cells.
  [[nodiscard]] bool at_nodes() const noexcept { return at_nodes_; }

 private:
  [[nodiscard]] std::array<double, 3> read(const ArrayView& array, const Index3& p) const noexcept {
    const auto taken = [&](const auto* x) -> std::array<double, 3> {
      const Index next = array.strides[3];
      return {static_cast<double>(x[0]), dimensions_ > 1 ? static_cast<double>(x[next]) : 0.0,
              dimensions_ > 2 ? static_cast<double>(x[2 * next]) : 0.0};
    };
    return array.type == Type::float32 ? taken(array.at<float>(p[0], p[1], p[2]))
                                       : taken(array.at<double>(p[0], p[1], p[2]));
  }
  [[nodiscard]] std::array<double, 3> node(const Index3& p) const noexcept {
    return direct_.contains(p) ? read(view_->array, p) : far_node(p);
  }
  [[nodiscard]] std::array<double, 3> far_node(const Index3& p) const noexcept;
  [[nodiscard]] std::array<double, 3> middle(const Index3& cell) const noexcept;
  void copy_nodes(const ArrayView& array, const Box& part);
  void take_means();

  const BlockView* view_;
  bool at_nodes_;
  bool dense_;  ///< positions are stored; otherwise nodes are read in place
  Box direct_;  ///< the largest box of the block's own points
  int dimensions_;
  NodeNumbers nodes_;
  Box box_;
  std::vector<std::array<double, 3>> places_;
  std::vector<double> scratch_, means_;
};

namespace curved {

[[nodiscard]] inline std::array<double, 3> cross(const std::array<double, 3>& a,
                                                 const std::array<double, 3>& b) noexcept {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

[[nodiscard]] inline double dot(const std::array<double, 3>& a, const std::array<double, 3>& b) noexcept {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

}  // namespace curved

/// The signed distance of the points of a curvilinear mesh to a plane.
class CurvedPlaneSource final : public ScalarSource {
 public:
  /// Arguments as for CurvedPoints.
  CurvedPlaneSource(const PointGrid& grid, const Mesh& mesh, const Metadata& metadata, const BlockView* coordinates,
                    const Plane& plane);
  void fill(const Box& region, double* out) override;

 private:
  void fill_nodes(const Box& region, double* out) const;
  void fill_from(const ArrayView& array, const Box& part, const Box& region, double* out) const;

  const BlockView* view_;
  bool at_nodes_;
  int dimensions_;
  Plane plane_;
  NodeNumbers nodes_;
  std::vector<double> distances_;
};

/// Rows of a box, computed on request and kept for the last four planes.
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
