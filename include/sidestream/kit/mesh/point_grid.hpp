// The points between which a field is interpolated, and the cells between them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"

namespace sidestream {

/// The extent of a grid of points for a cell-centred variable.
enum class Reach {
  centres,  ///< ends at the outermost cell centres
  faces,    ///< ends at the faces of the mesh: one more virtual point on every side, with the value of the nearest
            ///< centre
};

/// All points of a variable's centring on a mesh whose blocks are boxes. Between eight neighbouring points p .. p + (1,
/// 1, 1) lies a cell, named by its lowest point p: a mesh cell for node-centred variables, a cell of the dual mesh for
/// cell-centred ones. In a two-dimensional mesh cells lie between four points. On axes positions follow from global
/// indices, so they are the same on every server. A curvilinear mesh has its positions in its coordinates
/// (curved_points.hpp), and the grid has indices only.
class PointGrid {
 public:
  /// Throws Error(analysis), naming the kind, if the mesh has neither axes nor coordinates of its nodes.
  PointGrid(const Mesh& mesh, Centering centering, Reach reach);

  [[nodiscard]] const Box& points() const noexcept { return points_; }  ///< virtual ones included
  [[nodiscard]] const Box& real() const noexcept { return real_; }      ///< points with a published value
  [[nodiscard]] Centering centering() const noexcept { return centering_; }
  /// True if the mesh has two dimensions: one layer of points at the mesh's position on the third axis, and cells
  /// between four of them each.
  [[nodiscard]] bool flat() const noexcept { return flat_; }
  /// True if positions are in coordinates; otherwise `position` gives them.
  [[nodiscard]] bool curved() const noexcept { return curved_; }
  [[nodiscard]] double position(int axis, Index index) const noexcept {
    return positions_[axis][static_cast<std::size_t>(index - points_.lo[axis])];
  }
  [[nodiscard]] std::array<double, 3> position(const Index3& p) const noexcept {
    return {position(0, p[0]), position(1, p[1]), position(2, p[2])};
  }
  /// Number of a point among all points, i fastest.
  [[nodiscard]] std::int64_t number(const Index3& p) const noexcept {
    return ((p[2] - points_.lo[2]) * points_.extent(1) + (p[1] - points_.lo[1])) * points_.extent(0) +
           (p[0] - points_.lo[0]);
  }
  /// The point of that number.
  [[nodiscard]] Index3 point(std::int64_t number) const noexcept {
    const Index row = points_.extent(0), plane = row * points_.extent(1);
    return {points_.lo[0] + number % row, points_.lo[1] + number % plane / row, points_.lo[2] + number / plane};
  }
  /// The block's own cells. For nodes these are its mesh cells; for cell centres, the cells whose lowest point it owns.
  /// They are disjoint, and together the blocks have all cells. `flags`: the flags of the block's cells (role
  /// cell_ghosts), with the same halo as the view, or null. Omits flagged cells, and cells between centres if a centre
  /// is flagged.
  [[nodiscard]] std::vector<Box> cells_of(const BlockView& view, const BlockView* flags) const;

 private:
  [[nodiscard]] std::vector<Box> own_cells(const BlockView& view) const;
  void leave_out(const BlockView& flags, const Box& box, std::vector<Box>& cells) const;

  Centering centering_;
  bool flat_, curved_;
  Box real_, points_;
  std::array<std::vector<double>, 3> positions_;
};

// Positions of the cells of one refinement level of a mesh with axes.

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
  /// The cell whose nodes enclose a position; a number below cells().lo if there is none. On a common border it is the
  /// upper cell; at the mesh's end it is the last cell. `near` is a guess: this cell or the next one is tried first.
  [[nodiscard]] Index cell_at(int axis, double x, Index near) const;

 private:
  const Axes& axes_;
  const UniformGeometry* uniform_;
  Index3 ratio_;
  Box cells_;
};

}  // namespace sidestream
