// Rows of three-dimensional grids for the surface kernel: numbers, vertices and triangles, and normals.
//
// Numbers of a block stay in their own type, a few planes of points at a time. The kernel gives its output row by row.
// Normals come from the slopes of the number at the points.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/box.hpp"
#include "sidestream/kit/mesh/point_grid.hpp"

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

/// Corners of a triangle: numbers of points in the order in which they come, from 0 for each value.
using RowTriangle = std::array<std::int32_t, 3>;

/// The vertices on the edges that start at the points of one row, in the order of their keys.
struct PointRow {
  Index3 first;                        ///< point of the row
  std::span<const std::int32_t> at;    ///< for each vertex: offset along the row of the point where its edge starts
  std::span<const std::uint8_t> axis;  ///< and the axis of the edge
  std::span<const double> t;           ///< its fraction of the edge
  std::span<const std::array<double, 3>> places;
  std::span<const std::array<double, 3>> normals;  ///< if asked for
};

/// The triangles in one row of cells, in the order of the cells.
struct TriangleRow {
  Index3 first;                      ///< cell of the row
  std::span<const std::int32_t> at;  ///< for each triangle: offset of its cell along the row
  std::span<const RowTriangle> corners;
};

/// Receives the rows of one value in one box of cells: points plane after plane, triangles as soon as their points have
/// come.
class ContourRows {
 public:
  virtual ~ContourRows() = default;
  /// Announces, before the first row, how many will come at most; exactly as many unless cells have no position.
  virtual void expect(std::size_t points, std::size_t triangles) = 0;
  virtual void take(const PointRow& row) = 0;
  virtual void take(const TriangleRow& row) = 0;
  /// Called when the points of plane k and the triangles below it have come.
  virtual void end_plane(Index k) { static_cast<void>(k); }
};

/// Slopes by central differences along the axes, one-sided where a neighbour has no value. All numbers in `box` must be
/// available; no neighbours beyond it are read.
class RowNormals {
 public:
  RowNormals(const PointGrid& grid, const Box& box);
  /// Unit normals of the vertices of a row, towards lower numbers.
  template <class T>
  void normals(const NumberPlanes<T>& numbers, const PointRow& row, std::array<double, 3>* out) const;

 private:
  template <class T>
  struct Stencil;
  template <class T>
  [[nodiscard]] Stencil<T> stencil(const NumberPlanes<T>& numbers, Index j, Index k) const noexcept;
  [[nodiscard]] double inverse_step(int axis, Index lower, Index upper) const noexcept;
  template <class T>
  [[nodiscard]] double slope(int axis, Index at, T below, T here, T above) const noexcept;

  const PointGrid& grid_;
  Box box_;
  std::array<std::vector<double>, 3> inverse_;  ///< inverse distance between a point's neighbours on an axis
};

extern template void RowNormals::normals(const NumberPlanes<float>&, const PointRow&, std::array<double, 3>*) const;
extern template void RowNormals::normals(const NumberPlanes<double>&, const PointRow&, std::array<double, 3>*) const;

// Unit vectors.

/// Normalises `n`; returns false if it has no direction.
[[nodiscard]] inline bool normalise(std::array<double, 3>& n) noexcept {
  const double length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  if (!(length > 0) || !std::isfinite(length)) return false;
  const double inverse = 1 / length;
  if (!std::isfinite(inverse)) {
    n = {n[0] / length, n[1] / length, n[2] / length};
  } else {
    n = {n[0] * inverse, n[1] * inverse, n[2] * inverse};
  }
  return true;
}

}  // namespace sidestream
