// What a plane cuts of a cell whose sides lie along the axes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "mesh/plane.hpp"

namespace sidestream {

/// By axis where a cell begins and ends, in the order of its indices.
using CellEnds = std::array<std::array<double, 2>, 3>;

/// A corner of what is cut: where it is, and on which edge of the cell (0 to 11, those along x first) and how far from
/// its lower end, as a part of it.
struct SectionPoint {
  std::array<double, 3> place;
  std::uint8_t edge;
  double along;
};

/// Corner n of a cell lies at its upper end along axis a where bit a of n is set.
struct SectionEdge {
  std::uint8_t corner, axis;  ///< the lower end, and the axis along which it goes
};
[[nodiscard]] SectionEdge section_edge(int edge) noexcept;

/// A plane as cells meet it. A distance is the sum of a term for each axis, x + (y + z), so that it is the same bits
/// for all cells that have a corner and, as sums are monotonic, those of a cell's corners lie between those of the
/// corners of any cell that contains it.
class CellSections {
 public:
  /// `whole`: the ends of the mesh. If no corner of it is below the plane, the plane's sign is turned, so that the face
  /// that it lies in is cut like any other.
  CellSections(const Plane& plane, const CellEnds& whole, int dimensions);

  /// Whether the plane cuts a cell: some corner is below it and some is not. So of the cells on both sides of a face
  /// in the plane one alone is cut, the one below.
  [[nodiscard]] bool cuts(const CellEnds& ends) const noexcept;

  /// The corners of what is cut, in three dimensions of a polygon, counter-clockwise seen from the normal's side; in
  /// two dimensions the ends of a line, on the right of which the normal's side is. No two that follow each other are
  /// the same; fewer than three, or two, if nothing is left. A corner lies on a line of the mesh and is computed from
  /// that line alone: cells of different levels have the same bits there.
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
