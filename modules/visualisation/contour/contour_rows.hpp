// Output of the kernel for three-dimensional grids, one row of the grid at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sidestream/data/box.hpp"

namespace sidestream {

/// Corners of a triangle: numbers of points in the order in which they come, from 0 for each value.
using RowTriangle = std::array<std::int32_t, 3>;

/// The vertices on the edges that start at the points of one row, in the order of their keys.
struct PointRow {
  Index3 first;                        ///< point of the row
  std::span<const std::int32_t> at;    ///< for each vertex: offset along the row of the point at which its edge starts
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

/// Receives the rows of one value in one box of cells: those of points plane after plane, those of triangles as soon as
/// their points have come.
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

}  // namespace sidestream
