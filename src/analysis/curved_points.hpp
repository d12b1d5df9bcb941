// Where the points of a curvilinear mesh are: from the coordinates of its nodes.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "analysis/field_source.hpp"
#include "analysis/plane.hpp"
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
  /// `coordinates` may be null (they were not delivered): no point has a place. `dense`: every point is asked for,
  /// which is worth a copy. Keeps references.
  CurvedPoints(const PointGrid& grid, const Mesh& mesh, const Metadata& metadata, const BlockView* coordinates,
               bool dense);
  /// Makes the places of these points available, as far as the block's coordinates and their halo reach; NaN beyond.
  void move_to(const Box& points);
  [[nodiscard]] std::array<double, 3> at(const Index3& p) const noexcept {
    if (direct_only_) return direct_.contains(p) ? read(view_->array, p) : node(p);
    const auto n = static_cast<std::size_t>(
        ((p[2] - box_.lo[2]) * box_.extent(1) + (p[1] - box_.lo[1])) * box_.extent(0) + (p[0] - box_.lo[0]));
    return places_[n];
  }
  /// Of the cell above a point: negative if its axes are left-handed, 0 if it has no volume.
  [[nodiscard]] double volume(const Index3& cell) const noexcept;
  /// Likewise in two dimensions; not finite if a corner has no place.
  [[nodiscard]] double area(const Index3& cell) const noexcept;

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
  [[nodiscard]] std::array<double, 3> node(const Index3& p) const noexcept;
  void copy_nodes(const ArrayView& array, const Box& part);
  void take_means();

  const BlockView* view_;
  bool at_nodes_;
  bool direct_only_;  ///< nodes are read where they are; means of them are kept
  Box direct_;        ///< the largest part of what the block owns
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

/// Slope of the numbers at a point of a curved grid: from central differences along the grid's lines, one-sided where a
/// neighbour has no value; 0 where the lines do not span space. Numbers are had in `box`; the point's neighbours in it
/// must have their places.
template <class Number>
[[nodiscard]] std::array<double, 3> curved_slope(const CurvedPoints& places, const Box& box, const Number& number,
                                                 const Index3& p) {
  std::array<std::array<double, 3>, 3> along{};  // between the neighbours along each line of the grid
  std::array<double, 3> rise{};
  for (std::size_t a = 0; a < 3; ++a) {
    std::array<double, 3> x[2];
    double f[2];
    for (std::size_t side = 0; side < 2; ++side) {
      Index3 q = p;
      q[a] += side == 0 ? -1 : 1;
      const bool there = q[a] >= box.lo[a] && q[a] < box.hi[a];
      if (there) {
        x[side] = places.at(q);
        f[side] = number(q);
      }
      if (there && std::isfinite(f[side]) && std::isfinite(x[side][0])) continue;
      x[side] = places.at(p);
      f[side] = number(p);
    }
    rise[a] = f[1] - f[0];
    for (std::size_t d = 0; d < 3; ++d) along[a][d] = x[1][d] - x[0][d];
  }
  const std::array<double, 3> uv = curved::cross(along[0], along[1]), vw = curved::cross(along[1], along[2]),
                              wu = curved::cross(along[2], along[0]);
  const double volume = curved::dot(along[0], vw);
  if (volume == 0) return {0, 0, 0};
  std::array<double, 3> slope;
  for (std::size_t d = 0; d < 3; ++d) slope[d] = (rise[0] * vw[d] + (rise[1] * wu[d] + rise[2] * uv[d])) / volume;
  return slope;
}

/// The signed distance of the points of a curvilinear mesh to a plane.
class CurvedPlaneSource final : public ScalarSource {
 public:
  /// As CurvedPoints.
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

}  // namespace sidestream
