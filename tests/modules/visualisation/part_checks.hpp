// Measures of sets of cells: their sizes and their outer faces.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "sidestream/data/result.hpp"
#include "support/surface_checks.hpp"
#include "visualisation/mesh/cells/cell_shapes.hpp"

namespace sidestream::testing {

/// The points of one cell.
inline std::vector<std::size_t> points_of_cell(const CellSet& set, std::size_t cell) {
  const auto begin = static_cast<std::size_t>(cell == 0 ? 0 : set.ends[cell - 1]);
  std::vector<std::size_t> points;
  for (auto n = begin; n < static_cast<std::size_t>(set.ends[cell]); ++n) {
    points.push_back(static_cast<std::size_t>(set.links[n]));
  }
  return points;
}

/// The faces of a cell of three dimensions as loops of points of the set.
inline std::vector<std::vector<std::size_t>> faces_of_cell(const CellSet& set, std::size_t cell) {
  std::vector<std::vector<std::size_t>> faces;
  if (set.types[cell] == vtk_polyhedron) {
    std::int64_t begin = 0;
    for (std::size_t n = 0; n < cell; ++n) begin = std::max(begin, set.face_ends[n]);
    auto at = static_cast<std::size_t>(begin);
    for (std::int64_t left = set.faces[at++]; left > 0; --left) {
      for (std::int64_t corners = (faces.emplace_back(), set.faces[at++]); corners > 0; --corners) {
        faces.back().push_back(static_cast<std::size_t>(set.faces[at++]));
      }
    }
    return faces;
  }
  const CellShape* shape = shape_of(set.types[cell]);
  if (shape == nullptr) return faces;
  const std::vector<std::size_t> points = points_of_cell(set, cell);
  for (const auto& face : shape->body.faces()) {
    faces.emplace_back();
    for (const int corner : face) faces.back().push_back(points[static_cast<std::size_t>(corner)]);
  }
  return faces;
}

/// Length, area or volume of a convex cell with flat faces. Pyramids from its centre are added up; each face is a fan
/// of triangles.
inline double size_of_cell(const CellSet& set, std::size_t cell) {
  const std::vector<std::size_t> points = points_of_cell(set, cell);
  const auto mean = [&](const std::vector<std::size_t>& of) {
    Vector sum{};
    for (const std::size_t p : of) {
      for (std::size_t d = 0; d < 3; ++d) sum[d] += set.points[p][d] / static_cast<double>(of.size());
    }
    return sum;
  };
  if (set.types[cell] == 3) return norm(minus(set.points[points[1]], set.points[points[0]]));
  double size = 0;
  const auto fan = [&](const std::vector<std::size_t>& loop, auto&& f) {
    const Vector middle = mean(loop);
    for (std::size_t n = 0; n < loop.size(); ++n) {
      f(middle, set.points[loop[n]], set.points[loop[(n + 1) % loop.size()]]);
    }
  };
  if (is_flat_cell(set.types[cell])) {
    std::vector<std::size_t> loop = points;
    if (set.types[cell] == vtk_pixel) std::swap(loop[2], loop[3]);
    fan(loop,
        [&](const Vector& a, const Vector& b, const Vector& c) { size += norm(cross(minus(b, a), minus(c, a))) / 2; });
    return size;
  }
  const Vector middle = mean(points);
  for (const auto& face : faces_of_cell(set, cell)) {
    fan(face, [&](const Vector& a, const Vector& b, const Vector& c) {
      size += std::fabs(dot(minus(a, middle), cross(minus(b, middle), minus(c, middle)))) / 6;
    });
  }
  return size;
}

inline double size_of(const CellSet& set) {
  double sum = 0;
  for (std::size_t cell = 0; cell < set.types.size(); ++cell) sum += size_of_cell(set, cell);
  return sum;
}

/// Area of the faces that only one cell has, or -1 if more than two cells share one. Faces are cut into triangles from
/// their least point.
inline double outer_area(const CellSet& set) {
  std::map<std::array<std::size_t, 3>, int> count;
  for (std::size_t cell = 0; cell < set.types.size(); ++cell) {
    for (auto face : faces_of_cell(set, cell)) {
      std::rotate(face.begin(), std::min_element(face.begin(), face.end()), face.end());
      for (std::size_t n = 2; n < face.size(); ++n) {
        std::array<std::size_t, 3> triangle{face[0], face[n - 1], face[n]};
        std::sort(triangle.begin(), triangle.end());
        ++count[triangle];
      }
    }
  }
  double area = 0;
  for (const auto& [t, times] : count) {
    if (times > 2) return -1;
    if (times == 1) {
      area += norm(cross(minus(set.points[t[1]], set.points[t[0]]), minus(set.points[t[2]], set.points[t[0]]))) / 2;
    }
  }
  return area;
}

/// True if no two points of the set are at the same place.
inline bool points_are_once(const CellSet& set) {
  const std::set<std::array<double, 3>> places(set.points.begin(), set.points.end());
  return places.size() == set.points.size();
}

}  // namespace sidestream::testing
