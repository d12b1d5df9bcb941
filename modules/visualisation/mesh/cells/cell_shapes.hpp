// Surfaces in cells of any shape. This is the rule of marching_cubes_cell.hpp for cells that are not boxes.
//
// On each face the crossed edges are joined so that inside corners are cut off. This depends only on the face, so cells
// of different shapes agree about the faces that they share. The segments close to loops, and a loop is cut into
// triangles without a diagonal in a face, where the shape allows that; all but polyhedra of odd shapes do.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sidestream {

/// The corners, edges and faces of a three-dimensional cell. Corners are numbered from 0.
class Polyhedron {
 public:
  using Faces = std::vector<std::vector<int>>;

  Polyhedron() = default;
  /// Faces are loops of corners, all counter-clockwise or all clockwise seen from outside. Throws std::invalid_argument
  /// if they are not closed: if an edge does not have two faces that traverse it in opposite directions.
  Polyhedron(int corners, Faces faces);

  [[nodiscard]] int corners() const noexcept { return corners_; }
  [[nodiscard]] const Faces& faces() const noexcept { return faces_; }
  [[nodiscard]] const std::vector<std::array<int, 2>>& edges() const noexcept { return edges_; }
  /// The triangles between inside and outside as numbers of edges. If faces are counter-clockwise seen from outside,
  /// triangles are counter-clockwise seen from the outside corners. `inside` has a flag for each corner.
  [[nodiscard]] std::vector<std::array<int, 3>> cut(std::span<const char> inside) const;

 private:
  [[nodiscard]] bool share_face(int e, int f) const noexcept;
  [[nodiscard]] std::vector<int> links(std::span<const char> inside) const;
  [[nodiscard]] bool triangulate(std::span<const int> loop, std::size_t first, std::size_t last,
                                 std::vector<std::array<int, 3>>& triangles) const;

  int corners_ = 0;
  Faces faces_;
  std::vector<std::vector<int>> face_edges_;  ///< [face][n]: the edge from corner n to the next one
  std::vector<std::array<int, 2>> edges_, edge_faces_;
};

/// Reverses faces of a polyhedron so that neighbours traverse their common edge in opposite directions, as far as
/// possible.
[[nodiscard]] Polyhedron::Faces aligned(Polyhedron::Faces faces);

/// A shape of a few corners with all of its cases: bit n of a case is set where corner n is inside.
struct CellShape {
  explicit CellShape(Polyhedron polyhedron);
  struct Case {
    std::uint8_t count = 0;
    std::uint16_t first = 0;  ///< in `triangles`
  };
  Polyhedron body;
  std::vector<Case> cases;
  std::vector<std::array<std::uint8_t, 3>> triangles;
  std::vector<std::array<std::uint8_t, 2>> edges;
};

/// VTK's numbers of cells.
enum : std::uint8_t {
  vtk_vertex = 1,
  vtk_polyvertex = 2,
  vtk_line = 3,
  vtk_polyline = 4,
  vtk_triangle = 5,
  vtk_polygon = 7,
  vtk_pixel = 8,
  vtk_quad = 9,
  vtk_tetra = 10,
  vtk_voxel = 11,
  vtk_hexahedron = 12,
  vtk_wedge = 13,
  vtk_pyramid = 14,
  vtk_polyhedron = 42,
};

/// The shape of types 10 to 14, null for others.
[[nodiscard]] const CellShape* shape_of(std::uint8_t type) noexcept;
/// True for two-dimensional cells whose corners are in cyclic order, and for pixels, which have the last two swapped.
[[nodiscard]] constexpr bool is_flat_cell(std::uint8_t type) noexcept {
  return type == vtk_triangle || type == vtk_polygon || type == vtk_pixel || type == vtk_quad;
}
/// True for points and lines, single or several: surfaces do not pass through them.
[[nodiscard]] constexpr bool is_thin_cell(std::uint8_t type) noexcept { return type <= 4; }

/// Positive if the corners of a cell of types 10 to 14 are in VTK's order, wedges the other way. Negative if the cell
/// is mirrored; 0 if it has no volume.
[[nodiscard]] double orientation(std::uint8_t type, std::span<const std::array<double, 3>> corners) noexcept;

}  // namespace sidestream
