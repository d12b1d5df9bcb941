// Tables of linear parts for VTK's cells of higher order. Corners are cut off at the midpoints of edges. The rest is an
// octahedron cut into tetrahedra, a polyhedron, or, for cells with points on faces and inside, a lattice of smaller
// cells of the same kind. The parts of a cell on one of its faces depend only on that face.
#include "visualisation/mesh/cells/subdivision.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "visualisation/mesh/cells/cell_shapes.hpp"

namespace sidestream {
namespace {

enum : std::uint8_t { strip = 6, quadratic_polygon = 36 };

using Parts = std::vector<LinearPart>;

/// The triangle of six points: corners, then the midpoints of the sides.
Parts triangle_of_six() { return {{5, {0, 3, 5}}, {5, {3, 1, 4}}, {5, {5, 4, 2}}, {5, {3, 4, 5}}}; }

Parts quad_of_eight() { return {{5, {0, 4, 7}}, {5, {1, 5, 4}}, {5, {2, 6, 5}}, {5, {3, 7, 6}}, {9, {4, 5, 6, 7}}}; }

Parts quad_of_nine() { return {{9, {0, 4, 8, 7}}, {9, {4, 1, 5, 8}}, {9, {8, 5, 2, 6}}, {9, {7, 8, 6, 3}}}; }

/// Four corners, and between them an octahedron around the line from the midpoint of one edge to that of the opposite
/// one.
Parts tetrahedron_of_ten() {
  return {{10, {0, 4, 6, 7}}, {10, {4, 1, 5, 8}}, {10, {6, 5, 2, 9}}, {10, {7, 8, 9, 3}},
          {10, {4, 9, 6, 5}}, {10, {4, 9, 7, 6}}, {10, {4, 9, 8, 7}}, {10, {4, 9, 5, 8}}};
}

/// Appends a tetrahedron for each corner, whose first point is the corner, and the remaining polyhedron of the cell.
Parts with_corners(const std::vector<std::vector<int>>& corners, LinearPart middle, Parts parts = {}) {
  for (const std::vector<int>& corner : corners) {
    parts.push_back({vtk_tetra, corner});
    middle.faces.push_back({corner[1], corner[2], corner[3]});
  }
  parts.push_back(std::move(middle));
  return parts;
}

/// Eight corners and the polyhedron between the midpoints of the edges.
Parts hexahedron_of_twenty() {
  const std::vector<std::vector<int>> corners{{0, 8, 11, 16},  {1, 9, 8, 17},   {2, 10, 9, 18},  {3, 11, 10, 19},
                                              {4, 15, 12, 16}, {5, 12, 13, 17}, {6, 13, 14, 18}, {7, 14, 15, 19}};
  LinearPart middle{
      vtk_polyhedron,
      {8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19},
      {{8, 9, 10, 11}, {12, 13, 14, 15}, {8, 17, 12, 16}, {9, 18, 13, 17}, {10, 19, 14, 18}, {11, 16, 15, 19}}};
  return with_corners(corners, std::move(middle));
}

Parts wedge_of_fifteen() {
  const std::vector<std::vector<int>> corners{{0, 6, 8, 12},  {1, 7, 6, 13},  {2, 8, 7, 14},
                                              {3, 11, 9, 12}, {4, 9, 10, 13}, {5, 10, 11, 14}};
  LinearPart middle{vtk_polyhedron,
                    {6, 7, 8, 9, 10, 11, 12, 13, 14},
                    {{6, 7, 8}, {9, 10, 11}, {6, 13, 9, 12}, {7, 14, 10, 13}, {8, 12, 11, 14}}};
  return with_corners(corners, std::move(middle));
}

Parts pyramid_of_thirteen() {
  const std::vector<std::vector<int>> corners{{0, 5, 8, 9}, {1, 6, 5, 10}, {2, 7, 6, 11}, {3, 8, 7, 12}};
  LinearPart middle{vtk_polyhedron,
                    {5, 6, 7, 8, 9, 10, 11, 12},
                    {{5, 6, 7, 8}, {5, 10, 9}, {6, 11, 10}, {7, 12, 11}, {8, 9, 12}, {9, 10, 11, 12}}};
  return with_corners(corners, std::move(middle), {{vtk_pyramid, {9, 10, 11, 12, 4}}});
}

/// Eight hexahedra on a lattice of 3 x 3 x 3 points.
Parts hexahedron_of_27() {
  // Points in the order of the lattice, x fastest. They are corners, midpoints of edges, midpoints of faces (x, y, z,
  // lower ones first), and the midpoint of the cell.
  constexpr std::array<int, 27> lattice{0,  8,  1,  11, 24, 9,  3, 10, 2,  16, 22, 17, 20, 26,
                                        21, 19, 23, 18, 4,  12, 5, 15, 25, 13, 7,  14, 6};
  Parts parts;
  for (int part = 0; part < 8; ++part) {
    const auto at = [&](int i, int j, int k) {
      return lattice[static_cast<std::size_t>(((part >> 2) + k) * 9 + ((part >> 1 & 1) + j) * 3 + (part & 1) + i)];
    };
    parts.push_back(
        {vtk_hexahedron,
         {at(0, 0, 0), at(1, 0, 0), at(1, 1, 0), at(0, 1, 0), at(0, 0, 1), at(1, 0, 1), at(1, 1, 1), at(0, 1, 1)}});
  }
  return parts;
}

/// Four wedges between two triangles of six points each.
void add_wedges(const std::array<int, 6>& low, const std::array<int, 6>& high, Parts& parts) {
  for (const LinearPart& triangle : triangle_of_six()) {
    LinearPart wedge{vtk_wedge, {}};
    for (const auto* side : {&low, &high}) {
      for (const int p : triangle.points) wedge.points.push_back((*side)[static_cast<std::size_t>(p)]);
    }
    parts.push_back(std::move(wedge));
  }
}

Parts wedge_of_twelve() {
  Parts parts;
  add_wedges({0, 1, 2, 6, 7, 8}, {3, 4, 5, 9, 10, 11}, parts);
  return parts;
}

Parts wedge_of_eighteen() {
  Parts parts;
  add_wedges({0, 1, 2, 6, 7, 8}, {12, 13, 14, 15, 16, 17}, parts);
  add_wedges({12, 13, 14, 15, 16, 17}, {3, 4, 5, 9, 10, 11}, parts);
  return parts;
}

struct Kind {
  std::uint8_t type;
  std::int64_t points;
  Parts parts;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {21, 3, {{vtk_line, {0, 2}}, {vtk_line, {2, 1}}}},
      {22, 6, triangle_of_six()},
      {23, 8, quad_of_eight()},
      {24, 10, tetrahedron_of_ten()},
      {25, 20, hexahedron_of_twenty()},
      {26, 15, wedge_of_fifteen()},
      {27, 13, pyramid_of_thirteen()},
      {28, 9, quad_of_nine()},
      {29, 27, hexahedron_of_27()},
      {30, 6, {{9, {0, 4, 5, 3}}, {9, {4, 1, 2, 5}}}},
      {31, 12, wedge_of_twelve()},
      {32, 18, wedge_of_eighteen()},
      {34, 7, {{5, {0, 3, 6}}, {5, {3, 1, 6}}, {5, {1, 4, 6}}, {5, {4, 2, 6}}, {5, {2, 5, 6}}, {5, {5, 0, 6}}}},
      {35, 4, {{vtk_line, {0, 2}}, {vtk_line, {2, 3}}, {vtk_line, {3, 1}}}}};
  return all;
}

const Kind* kind_of(std::uint8_t type) noexcept {
  for (const Kind& kind : kinds()) {
    if (kind.type == type) return &kind;
  }
  return nullptr;
}

}  // namespace

bool is_subdivided(std::uint8_t type) noexcept {
  return type == strip || type == quadratic_polygon || kind_of(type) != nullptr;
}

std::int64_t points_of_subdivided(std::uint8_t type) noexcept {
  const Kind* kind = kind_of(type);
  return kind == nullptr ? 0 : kind->points;
}

std::vector<LinearPart> linear_parts(std::uint8_t type, std::int64_t points) {
  if (const Kind* kind = kind_of(type)) return kind->parts;
  Parts parts;
  const auto count = static_cast<int>(points);
  if (type == strip) {  // every second triangle is reversed
    for (int n = 0; n + 2 < count; ++n) {
      parts.push_back({vtk_triangle, n % 2 == 0 ? std::vector{n, n + 1, n + 2} : std::vector{n + 1, n, n + 2}});
    }
  } else {  // a polygon: corners, then the midpoints of its sides
    LinearPart polygon{vtk_polygon, {}};
    for (int n = 0; n < count / 2; ++n) polygon.points.insert(polygon.points.end(), {n, count / 2 + n});
    parts.push_back(std::move(polygon));
  }
  return parts;
}

std::vector<std::array<std::int64_t, 4>> tetrahedra_of(const std::vector<std::vector<std::int64_t>>& faces) {
  std::vector<std::array<std::int64_t, 4>> all;
  std::int64_t top = std::numeric_limits<std::int64_t>::max();
  for (const auto& face : faces) top = std::min(top, *std::min_element(face.begin(), face.end()));
  for (const auto& face : faces) {
    if (std::find(face.begin(), face.end(), top) != face.end()) continue;
    const auto first = static_cast<std::size_t>(std::min_element(face.begin(), face.end()) - face.begin());
    const auto at = [&](std::size_t n) { return face[(first + n) % face.size()]; };
    for (std::size_t n = 1; n + 1 < face.size(); ++n) all.push_back({at(0), at(n), at(n + 1), top});
  }
  return all;
}

}  // namespace sidestream
