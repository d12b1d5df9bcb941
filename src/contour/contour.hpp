// The contour kernel: triangles where a number on a grid of points passes a value. Isosurfaces, slices (the
// number is the distance to a plane) and the renderer stand on it.
//
// Marching cubes (Lorensen and Cline, 1987), with a table that is computed from one rule for the faces, so
// that neighbouring cells always agree (see case_table.hpp). A point is inside where its number >= the value.
// Vertices sit on the edges between neighbouring points, at a + t (b - a) with a the end of lower index, and
// are named by that edge; so two blocks that share an edge compute the same bits, and the surface closes
// exactly.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "contour/curved_points.hpp"
#include "mesh/field_source.hpp"
#include "mesh/point_grid.hpp"
#include "reduce/packed.hpp"

namespace sidestream {

/// Triangles of one value in one block, or pieces of lines if the grid or the cells are flat. Vertices on the block's
/// rim also occur in its neighbours' pieces.
struct Piece {
  std::int32_t layer = 0;  ///< which of the values (or planes) asked for
  PackedPlaces points;
  UnsetVector<std::int64_t> keys;                    ///< of each point: global, ascending along edges (see surface.hpp)
  PackedPlaces normals;                              ///< of length 1, towards lower numbers; if asked for
  std::vector<std::vector<double>> data;             ///< [attribute][point]
  PackedCorners triangles;                           ///< indices into points; counter-clockwise seen from lower numbers
  std::vector<std::array<std::int64_t, 2>> lines{};  ///< indices into points; lower numbers are on the right
  UnsetVector<std::int64_t> cells;  ///< of each triangle or line: the number of its cell's lowest point
  /// Of lists of cells, which have no indices: of each point the second part of its key. Their triangles and lines are
  /// in the order of `cells`, and those of a cell in that of their points.
  std::vector<std::int64_t> others{};
  /// Points are in the order of their keys, triangles in that of their cells, and every point has a triangle.
  bool in_order = false;
};

/// What to contour in one block.
struct ContourRequest {
  const PointGrid& grid;
  ScalarSource& scalar;
  std::span<const Box> cells;                   ///< from PointGrid::cells_of
  CurvedPoints* curved = nullptr;               ///< where the points of a curved grid are
  std::span<ScalarSource* const> attributes{};  ///< interpolated to the vertices
  bool normals = false;  ///< from central differences of the number, one-sided where there is no neighbour
  bool reverse = false;  ///< turn the triangles round
  /// Vertices that fall exactly on a point are one vertex, and triangles that collapse are left out. Right
  /// for planes; for general fields sheets that touch would no longer have two triangles at each edge, so it
  /// is off there.
  bool merge_at_points = false;
  /// The scalar is this component of a variable on the grid's points, in the block. Needed in three dimensions, where
  /// `scalar` is then not asked, and for normals, unless `merge_at_points`.
  const BlockView* view = nullptr;
  int component = 0;
  bool single = false;  ///< points and normals are kept in single precision
};

/// Axes that run downwards mirror space and with it the sense of the triangles. False of curved grids: there it is told
/// for each cell.
[[nodiscard]] bool mirrored(const PointGrid& grid);

/// The pieces of one block, one or more for each of `values`, in their order (perhaps without triangles). Cells with
/// a corner that is not finite have no triangles. Needs memory for a few planes of points and the output. In a flat
/// grid the pieces have lines (contour_flat), and no normals.
[[nodiscard]] std::vector<Piece> contour(const ContourRequest& request, std::span<const double> values);

// Meshes of two dimensions: contour lines in them (marching squares), and the planes that they are.

/// Adds to each of `pieces` the lines on which the number has the value of the same position. Points are named by the
/// edge that they lie on, as in three dimensions. Where two opposite corners of a cell are above the value and two
/// below, the upper ones are kept apart.
void contour_flat(const ContourRequest& request, std::span<const double> values, std::vector<Piece>& pieces);

/// All cells of a flat grid as two triangles each, with the attributes at their corners; `scalar` is not asked for
/// anything. Counter-clockwise seen from above the third axis, or with `reverse` from below.
[[nodiscard]] Piece all_cells(const ContourRequest& request);

}  // namespace sidestream
