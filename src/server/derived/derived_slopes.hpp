// Derivatives of derived variables: at the points of structured blocks, and in the cells of unstructured meshes.
#pragma once

#include <array>
#include <vector>

#include "server/derived/derived_field.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/data/metadata.hpp"

namespace sidestream {

/// Central differences of second order along the lines of the mesh, also for uneven spacing. If one neighbour has no
/// value or lies beyond the mesh, the difference is one-sided and of first order; if both, it is 0. On meshes with axes
/// a difference is a derivative. On curvilinear meshes the differences of the coordinates convert it to a derivative in
/// space, which is NaN where the lines do not span space. The result at a point depends only on its neighbours' values,
/// global indices and coordinates.
class DerivedSlopes {
 public:
  /// Keeps references.
  DerivedSlopes(const Mesh& mesh, const DerivedPoints& points, const Presence& presence)
      : dimensions_(mesh.dimensions), points_(points), presence_(presence) {}
  /// Computes the derivative of a component along `axis` in space, at the points of a line.
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
  /// Geometry for the derivative in space at a point: everything except the values.
  struct Surroundings {
    std::array<std::size_t, 3> from{}, to{};        ///< offsets of the neighbours along each line of the mesh
    std::array<std::array<double, 3>, 3> across{};  ///< for each line: the cross product of the coordinate differences
                                                    ///< along the other two
    double volume = 0;  ///< volume that the coordinate differences span; 0: they do not span space
  };
  [[nodiscard]] Surroundings surroundings(const DerivedField& field, const Index3& p) const noexcept;
  [[nodiscard]] const std::vector<Surroundings>& of_line(const DerivedField& field, const PointLine& line);
  void in_space(const DerivedField& field, const double* values, int axis, const PointLine& line, double* out);

  int dimensions_;
  const DerivedPoints& points_;
  const Presence& presence_;
  PointLine line_{};  ///< the last line of a curvilinear mesh
  Box line_box_{};    ///< box of the field that it was in
  std::vector<Surroundings> of_line_{};
};

// Derivatives in the cells of one block of an unstructured mesh.

/// The arrays that define the cells of a block.
struct CellArrays {
  const BlockView &coordinates, &connectivity, &offsets, &types;
};

/// Weights that turn point values into derivatives in each cell's parametric centre: one for each point and axis.
/// Linear cells use their shape functions, as VTK's vtkCellDerivatives does. Other cells (polygons, polyhedra, strips,
/// cells of higher order) use the least-squares linear fit to their points. The derivative is 0 along directions in
/// which a cell has no extent, such as across a surface. It is NaN if a cell has no extent at all, or if it lacks
/// extent that its type must have. Only a cell's own points are used.
class CellWeights {
 public:
  /// Throws Error(analysis), naming block and mesh, if a cell refers to points outside the block, or has too few
  /// points.
  CellWeights(const Mesh& mesh, const CellArrays& arrays);
  /// The box of the points that cells refer to.
  [[nodiscard]] const Box& points() const noexcept { return points_; }
  /// Computes the derivative of point values along `axis`, in the cells of a line.
  void along(const double* values, int axis, const PointLine& line, double* out) const;
  /// Computes the mean over each cell's points, added in their order.
  void mean(const double* values, const PointLine& line, double* out) const;

 private:
  Box points_;
  std::vector<std::size_t> links_, ends_;
  std::vector<std::array<double, 3>> weights_;  ///< weights of each entry of links_
};

}  // namespace sidestream
