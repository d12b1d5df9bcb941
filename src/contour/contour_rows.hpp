// What the kernel for grids of three dimensions hands on, a row of the grid at a time.
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
  std::span<const std::int32_t> at;    ///< of each vertex: how far along the row its edge starts
  std::span<const std::uint8_t> axis;  ///< and which way it goes
  std::span<const double> t;           ///< where on the edge it is
  std::span<const std::array<double, 3>> places;
  std::span<const std::array<double, 3>> normals;  ///< if asked for
};

/// The triangles in one row of cells, in the order of the cells.
struct TriangleRow {
  Index3 first;                      ///< cell of the row
  std::span<const std::int32_t> at;  ///< of each triangle: how far along the row its cell is
  std::span<const RowTriangle> corners;
};

/// Takes the rows of one value in one box of cells: those of points plane after plane, those of triangles as soon as
/// their points have come.
class ContourRows {
 public:
  virtual ~ContourRows() = default;
  /// Before the first row: how many will come at most; exactly so many unless cells have no place.
  virtual void expect(std::size_t points, std::size_t triangles) = 0;
  virtual void take(const PointRow& row) = 0;
  virtual void take(const TriangleRow& row) = 0;
  /// The points of plane k and the triangles below it have come.
  virtual void end_plane(Index k) { static_cast<void>(k); }
};

}  // namespace sidestream
