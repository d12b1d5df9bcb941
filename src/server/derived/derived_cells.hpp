// Derivatives in the cells of one block of an unstructured mesh.
#pragma once

#include <array>
#include <vector>

#include "server/derived/derived_field.hpp"
#include "sidestream/data/metadata.hpp"

namespace sidestream {

/// The arrays that define the cells of a block.
struct CellArrays {
  const BlockView &coordinates, &connectivity, &offsets, &types;
};

/// Weights that turn point values into derivatives in each cell's parametric centre: one for each point and axis.
/// Linear cells use their shape functions, as VTK's vtkCellDerivatives does. All others (polygons, polyhedra, strips,
/// cells of higher order) use the linear function that fits their points best. The derivative is 0 along directions in
/// which a cell has no extent, such as across a surface. It is NaN if a cell has no extent at all, or lacks extent that
/// its type must have. Only a cell's own points are used.
class CellWeights {
 public:
  /// Throws Error(analysis), naming block and mesh, if a cell refers to points outside the block, or has too few
  /// points.
  CellWeights(const Mesh& mesh, const CellArrays& arrays);
  /// The box of the points that cells refer to.
  [[nodiscard]] const Box& points() const noexcept { return points_; }
  /// Computes the derivative of point values along `axis`, in the cells of a line.
  void along(const double* values, int axis, const PointLine& line, double* out) const;

 private:
  Box points_;
  std::vector<std::size_t> links_, ends_;
  std::vector<std::array<double, 3>> weights_;  ///< weights of each entry of links_
};

}  // namespace sidestream
