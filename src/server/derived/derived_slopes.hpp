// Derivatives of numbers on a structured mesh.
#pragma once

#include <array>
#include <vector>

#include "server/derived/derived_field.hpp"
#include "server/derived/derived_points.hpp"
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
  void along(const DerivedField& field, int component, int axis, const PointLine& line, double* out);

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
  /// What a derivative in space at a point needs but the values.
  struct Surroundings {
    std::array<std::size_t, 3> from{}, to{};        ///< of the neighbours' values along each line of the mesh
    std::array<std::array<double, 3>, 3> across{};  ///< across what lies between those of the other two lines
    double volume = 0;                              ///< that these span; 0: they span none
  };
  [[nodiscard]] Surroundings surroundings(const DerivedField& field, const Index3& p) const noexcept;
  [[nodiscard]] const std::vector<Surroundings>& of_line(const DerivedField& field, const PointLine& line);
  void in_space(const DerivedField& field, const double* values, int axis, const PointLine& line, double* out);

  int dimensions_;
  const DerivedPoints& points_;
  const Presence& presence_;
  PointLine line_{};  ///< the last one of a curvilinear mesh
  Box line_box_{};    ///< of the field that it was in
  std::vector<Surroundings> of_line_{};
};

}  // namespace sidestream
