// The contour kernel: triangles where a number on a grid of points passes a value. It is the basis of isosurfaces,
// slices (the number is the distance to a plane) and the renderer.
//
// Marching cubes (Lorensen and Cline, 1987), with a table that is computed from one rule for the faces, so that
// neighbouring cells always agree (see marching_cubes_cell.hpp). A point is inside where its number >= the value.
// Vertices lie on the edges between neighbouring points, at a + t (b - a) with a the end of lower index, and are named
// by that edge. Two blocks that share an edge therefore compute the same bits, and the surface is closed exactly.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sidestream/kit/mesh/point_grid.hpp"
#include "visualisation/contour/curved_points.hpp"
#include "visualisation/contour/packed.hpp"
#include "visualisation/mesh/field_source.hpp"

namespace sidestream {

/// Triangles of one value in one block, or line segments if the grid or the cells are flat. Vertices on the block's rim
/// also occur in its neighbours' pieces.
struct Piece {
  std::int32_t layer = 0;  ///< index of the value (or plane) that was asked for
  PackedPlaces points;
  UnsetVector<std::int64_t> keys;                    ///< one per point: global, ascending along edges (see surface.hpp)
  PackedPlaces normals;                              ///< unit normals, towards lower numbers; if asked for
  std::vector<std::vector<double>> data;             ///< [attribute][point]
  PackedCorners triangles;                           ///< indices into points; counter-clockwise seen from lower numbers
  std::vector<std::array<std::int64_t, 2>> lines{};  ///< indices into points; lower numbers are on the right
  UnsetVector<std::int64_t> cells;  ///< for each triangle or line: the number of its cell's lowest point
  /// The second part of each point's key, for lists of cells, which have no indices. Their triangles and lines are in
  /// the order of `cells`, and those of one cell in that of their points.
  std::vector<std::int64_t> others{};
  /// True if points are in the order of their keys, triangles in the order of their cells, and every point has a
  /// triangle.
  bool in_order = false;
};

/// A request to contour one block.
struct ContourRequest {
  const PointGrid& grid;
  ScalarSource& scalar;
  std::span<const Box> cells;                   ///< from PointGrid::cells_of
  CurvedPoints* curved = nullptr;               ///< positions of the points of a curved grid
  std::span<ScalarSource* const> attributes{};  ///< interpolated to the vertices
  double period = 0;     ///< of attributes that are interpolated the shorter way round; 0: they have none
  bool normals = false;  ///< from central differences of the number, one-sided where there is no neighbour
  bool reverse = false;  ///< reverse the triangles
  /// Vertices that coincide with a point are merged, and degenerate triangles are left out. This is right for planes,
  /// but off for general fields: there, touching sheets would no longer have two triangles at each edge.
  bool merge_at_points = false;
  /// The block of the variable whose component is the scalar, if it lies on the grid's points. Needed in three
  /// dimensions, where `scalar` is then not used, and for normals, unless `merge_at_points`.
  const BlockView* view = nullptr;
  int component = 0;
  bool single = false;  ///< points and normals are kept in single precision
};

/// True if axes that run downwards mirror space and with it the orientation of triangles. False for curved grids, where
/// it is decided for each cell.
[[nodiscard]] bool mirrored(const PointGrid& grid);

/// The pieces of one block, one or more for each of `values`, in their order (perhaps without triangles). Cells with a
/// corner that is not finite have no triangles. Needs memory for a few planes of points and the output. In a flat grid
/// the pieces have lines (contour_flat), and no normals.
[[nodiscard]] std::vector<Piece> contour(const ContourRequest& request, std::span<const double> values);

// Two-dimensional meshes: contour lines in them (marching squares), and the mesh itself as triangles.

/// Adds to each of `pieces` the lines on which the number has the value of the same index. Points are named by the edge
/// that they lie on, as in three dimensions. Where two opposite corners of a cell are above the value and two below,
/// the upper ones are separated.
void contour_flat(const ContourRequest& request, std::span<const double> values, std::vector<Piece>& pieces);

/// All cells of a flat grid as two triangles each, with the attributes at their corners; `scalar` is not used.
/// Counter-clockwise seen from above the third axis, or with `reverse` from below.
[[nodiscard]] Piece all_cells(const ContourRequest& request);

}  // namespace sidestream
