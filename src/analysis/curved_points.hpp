// Where the points of a curvilinear mesh are: from the coordinates of its nodes.
#pragma once

#include <array>
#include <vector>

#include "analysis/field_source.hpp"
#include "analysis/plane.hpp"
#include "analysis/plane_buffer.hpp"
#include "analysis/point_grid.hpp"

namespace sidestream {

/// Numbers at the nodes in and around one block, taken to the points of a grid: as they are to nodes, to a cell's
/// centre the mean of its nodes, to a virtual point that of the nodes next to it, which makes it the middle of a face.
class NodeNumbers {
 public:
  /// `nodes`: all of the mesh.
  NodeNumbers(const PointGrid& grid, const Box& nodes) : grid_(grid), nodes_(nodes) {}
  /// The nodes that the points of `region` need.
  [[nodiscard]] Box around(const Box& region) const;
  /// `values`, at around(region), i fastest, to the points of `region`; they are used up.
  void take(std::vector<double>& values, const Box& region, double* out);

 private:
  void halve(int axis, const Box& from, const std::vector<double>& values, const Box& to, double* out) const;

  const PointGrid& grid_;
  Box nodes_;
  std::vector<double> scratch_;
};

/// The places of a grid's points in one block, a box of points at a time.
class CurvedPoints {
 public:
  /// `coordinates` may be null (they were not delivered): no point has a place. Keeps references.
  CurvedPoints(const PointGrid& grid, const Mesh& mesh, const Metadata& metadata, const BlockView* coordinates);
  /// Makes the places of these points available, as far as the block's coordinates and their halo reach; NaN beyond.
  void move_to(const Box& points);
  [[nodiscard]] std::array<double, 3> at(const Index3& p) const noexcept {
    const auto n = static_cast<std::size_t>(
        ((p[2] - box_.lo[2]) * box_.extent(1) + (p[1] - box_.lo[1])) * box_.extent(0) + (p[0] - box_.lo[0]));
    return {places_[0][n], places_[1][n], places_[2][n]};
  }
  /// Of the cell above a point, 16 times its volume or, in two dimensions, 4 times its area, negative if its axes are
  /// left-handed; not finite if a corner has no place.
  [[nodiscard]] double volume(const Index3& cell) const noexcept;
  [[nodiscard]] double area(const Index3& cell) const noexcept;

 private:
  const BlockView* view_;
  int dimensions_;
  NodeNumbers nodes_;
  Box box_;
  std::array<std::vector<double>, 3> places_;
  std::vector<double> scratch_;
};

/// Slope of the numbers at a point of a curved grid: from central differences along the grid's lines, one-sided where a
/// neighbour has no value; 0 where the lines do not span space. Both must hold the point's neighbours that exist.
[[nodiscard]] std::array<double, 3> curved_slope(const CurvedPoints& places, const PlaneBuffer& numbers,
                                                 const Index3& p);

/// The signed distance of the points of a curvilinear mesh to a plane.
class CurvedPlaneSource final : public ScalarSource {
 public:
  /// As CurvedPoints.
  CurvedPlaneSource(const PointGrid& grid, const Mesh& mesh, const Metadata& metadata, const BlockView* coordinates,
                    const Plane& plane);
  void fill(const Box& region, double* out) override;

 private:
  const BlockView* view_;
  int dimensions_;
  Plane plane_;
  NodeNumbers nodes_;
  std::vector<double> distances_, scratch_;
};

}  // namespace sidestream
