// Section of a plane and a cell whose sides are parallel to the axes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "visualisation/mesh/plane.hpp"

namespace sidestream {

/// Ends of a cell on each axis, in the order of its indices.
using CellEnds = std::array<std::array<double, 2>, 3>;

/// A corner of a section: its position, its edge of the cell (0 to 11, those along x first), and its fraction of the
/// edge from the lower end.
struct SectionPoint {
  std::array<double, 3> place;
  std::uint8_t edge;
  double along;
};

/// An edge of a cell. Corner n of a cell lies at its upper end along axis a where bit a of n is set.
struct SectionEdge {
  std::uint8_t corner, axis;  ///< the lower end, and the axis along which it runs
};
[[nodiscard]] SectionEdge section_edge(int edge) noexcept;

/// Cuts cells by a plane. A distance is the sum of a term for each axis, x + (y + z). So it has the same bits in all
/// cells that share a corner. As sums are monotonic, the distances of a cell's corners also lie between those of any
/// cell that contains it.
class CellSections {
 public:
  /// `whole` gives the ends of the mesh. If none of its corners is below the plane, the plane's sign is reversed, so
  /// that a face in which it lies is cut like any other.
  CellSections(const Plane& plane, const CellEnds& whole, int dimensions);

  /// True if the plane cuts a cell: some corner is below it and some is not. For a face in the plane only one of the
  /// adjacent cells is cut, the one below.
  [[nodiscard]] bool cuts(const CellEnds& ends) const noexcept;

  /// Computes the corners of a section. In three dimensions they form a polygon, counter-clockwise seen from the
  /// normal's side; in two dimensions the ends of a line, with the normal's side on its right. No two consecutive ones
  /// are equal; fewer than three, or two, if nothing is left. A corner lies on a line of the mesh and is computed from
  /// that line only: cells of different levels have the same bits there.
  void section(const CellEnds& ends, std::vector<SectionPoint>& points) const;

 private:
  [[nodiscard]] double term(std::size_t axis, double x) const noexcept {
    return plane_.normal[axis] * (x - plane_.origin[axis]);
  }
  using Terms = std::array<std::array<double, 2>, 3>;
  [[nodiscard]] Terms terms(const CellEnds& ends) const noexcept;
  [[nodiscard]] SectionPoint point_on(int edge, const CellEnds& ends, const Terms& terms) const noexcept;
  void line(const CellEnds& ends, const Terms& terms, unsigned below, std::vector<SectionPoint>& points) const;

  Plane plane_;
  bool turned_ = false;
  int dimensions_;
};

}  // namespace sidestream
