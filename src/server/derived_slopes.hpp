// Derivatives of numbers on a structured mesh.
#pragma once

#include <array>

#include "server/derived_field.hpp"
#include "server/derived_points.hpp"
#include "sidestream/data/mesh.hpp"

namespace sidestream {

/// Central differences of second order along the lines of the mesh, also where these are unevenly spaced, one-sided
/// differences of first order where one neighbour has no value or lies beyond the mesh, and 0 where both do. On axes a
/// difference along each is a derivative; on curvilinear meshes the differences of the coordinates turn them into
/// derivatives in space, which are NaN where the lines do not span it. What a point gets depends on its neighbours'
/// values, global indices and places alone.
class DerivedSlopes {
 public:
  /// Keeps references.
  DerivedSlopes(const Mesh& mesh, const DerivedPoints& points, const Presence& presence)
      : dimensions_(mesh.dimensions), points_(points), presence_(presence) {}
  /// The derivative of a component along `axis` in space, at the points of a line.
  void along(const DerivedField& field, int component, int axis, const PointLine& line, double* out) const;

 private:
  struct Sides {
    bool lower, upper;
  };
  [[nodiscard]] Sides sides(const DerivedField& field, const Index3& p, int axis) const noexcept;
  struct Values {
    double below, here, above;
  };
  [[nodiscard]] static double difference(const Sides& has, const Values& u, double even, double before,
                                         double after) noexcept;
  void on_axis(const DerivedField& field, const double* values, int axis, const PointLine& line, double* out) const;
  [[nodiscard]] std::array<double, 3> in_space(const DerivedField& field, const double* values,
                                               const Index3& p) const noexcept;

  int dimensions_;
  const DerivedPoints& points_;
  const Presence& presence_;
};

}  // namespace sidestream
