// Where the cells of one refinement level of a mesh with axes are.
#pragma once

#include "sidestream/data/mesh.hpp"

namespace sidestream {

/// Positions from the global indices of a level: the same on every server. Keeps a reference to the mesh, which is
/// uniform if the level is not 0.
class LevelAxes {
 public:
  LevelAxes(const Mesh& mesh, std::int32_t level);
  [[nodiscard]] const Box& cells() const noexcept { return cells_; }
  [[nodiscard]] double node(int axis, Index index) const;
  [[nodiscard]] double position(Centering centering, int axis, Index index) const {
    return at_nodes(centering, axis) ? node(axis, index) : 0.5 * (node(axis, index) + node(axis, index + 1));
  }
  /// The cell between whose nodes a position is, below cells().lo if in none. On the border of two it is in the upper
  /// one; in the last cell at the mesh's end. `near`: a cell that may be it, or the one before it.
  [[nodiscard]] Index cell_at(int axis, double x, Index near) const;

 private:
  const Axes& axes_;
  const UniformGeometry* uniform_;
  Index3 ratio_;
  Box cells_;
};

}  // namespace sidestream
