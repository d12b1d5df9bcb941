// Derivatives in the cells of one block of an unstructured mesh.
#pragma once

#include <array>
#include <vector>

#include "server/derived/derived_field.hpp"
#include "sidestream/data/metadata.hpp"

namespace sidestream {

/// The lists that say what the cells of a block are.
struct CellArrays {
  const BlockView &coordinates, &connectivity, &offsets, &types;
};

/// What the numbers at the points of a cell say of its derivative in its parametric centre: each point has a weight for
/// each axis. Of linear cells by their shape functions, as VTK's vtkCellDerivatives does; of all others (polygons,
/// polyhedra, strips, cells of higher order) that of the linear function that fits all of their points best. Along
/// directions in which a cell does not reach, such as across a surface, nothing changes; NaN if it reaches in none, or
/// where a cell is to reach and does not. A cell's own points alone count.
class CellWeights {
 public:
  /// Throws Error(analysis), naming block and mesh, if a cell has points that the block has not, or too few of them.
  CellWeights(const Mesh& mesh, const CellArrays& arrays);
  /// The box of the points that cells are made of.
  [[nodiscard]] const Box& points() const noexcept { return points_; }
  /// The derivative of numbers at the points along `axis`, of the cells of a line.
  void along(const double* values, int axis, const PointLine& line, double* out) const;

 private:
  Box points_;
  std::vector<std::size_t> links_, ends_;
  std::vector<std::array<double, 3>> weights_;  ///< of each link
};

}  // namespace sidestream
