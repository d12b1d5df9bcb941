// Normals of isosurfaces from the slopes of the number at the points of a grid.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "sidestream/kit/mesh/point_grid.hpp"
#include "visualisation/contour/contour_rows.hpp"
#include "visualisation/contour/number_planes.hpp"

namespace sidestream {

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
