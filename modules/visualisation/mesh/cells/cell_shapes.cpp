// Surfaces in convex and general cells by face loops. On each face, every stretch of inside corners is cut off by a
// segment between the edges at its two ends. The segments of all faces form closed loops of edges. A loop is
// triangulated by a search for diagonals that lie in no face, so that neighbouring cells cannot produce the same
// triangle; long or odd loops are cut as a fan. The simple shapes have a table of all cases.
#include "visualisation/mesh/cells/cell_shapes.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace sidestream {
namespace {

using Vector = std::array<double, 3>;

double determinant(const Vector& a, const Vector& b, const Vector& c) {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

constexpr std::size_t longest_searched = 10;  ///< longer loops are cut as a fan; loops of simple shapes have up to 7

const CellShape& tetrahedron() {
  static const CellShape shape(Polyhedron(4, {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}}));
  return shape;
}

const CellShape& hexahedron() {
  static const CellShape shape(
      Polyhedron(8, {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}}));
  return shape;
}

const CellShape& voxel() {
  static const CellShape shape(
      Polyhedron(8, {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {1, 3, 7, 5}, {3, 2, 6, 7}, {2, 0, 4, 6}}));
  return shape;
}

const CellShape& wedge() {
  static const CellShape shape(Polyhedron(6, {{0, 2, 1}, {3, 4, 5}, {0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}}));
  return shape;
}

const CellShape& pyramid() {
  static const CellShape shape(Polyhedron(5, {{0, 3, 2, 1}, {0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}}));
  return shape;
}

/// The three axes of a cell as sums of pairs of corners, each from the first to the second.
using Axis = std::vector<std::array<int, 2>>;

const std::array<Axis, 3>* axes_of(std::uint8_t type) {
  static const std::array<Axis, 3> voxels{
      Axis{{0, 1}, {2, 3}, {4, 5}, {6, 7}}, {{0, 2}, {1, 3}, {4, 6}, {5, 7}}, {{0, 4}, {1, 5}, {2, 6}, {3, 7}}};
  static const std::array<Axis, 3> hexahedra{
      Axis{{0, 1}, {3, 2}, {4, 5}, {7, 6}}, {{0, 3}, {1, 2}, {4, 7}, {5, 6}}, {{0, 4}, {1, 5}, {2, 6}, {3, 7}}};
  static const std::array<Axis, 3> wedges{Axis{{0, 1}, {3, 4}}, {{0, 2}, {3, 5}}, {{0, 3}, {1, 4}, {2, 5}}};
  static const std::array<Axis, 3> pyramids{Axis{{0, 1}, {3, 2}}, {{0, 3}, {1, 2}}, {{0, 4}, {1, 4}, {2, 4}, {3, 4}}};
  switch (type) {
    case vtk_voxel:
      return &voxels;
    case vtk_hexahedron:
      return &hexahedra;
    case vtk_wedge:
      return &wedges;
    case vtk_pyramid:
      return &pyramids;
    default:
      return nullptr;
  }
}

}  // namespace

Polyhedron::Polyhedron(int corners, Faces faces) : corners_(corners), faces_(std::move(faces)) {
  struct Sides {
    int edge, forwards = -1, backwards = -1;  // the faces that traverse it in this direction
  };
  std::map<std::pair<int, int>, Sides> known;
  for (std::size_t f = 0; f < faces_.size(); ++f) {
    std::vector<int>& along = face_edges_.emplace_back();
    for (std::size_t n = 0; n < faces_[f].size(); ++n) {
      const int a = faces_[f][n], b = faces_[f][(n + 1) % faces_[f].size()];
      const auto [at, added] = known.try_emplace(std::minmax(a, b), Sides{static_cast<int>(edges_.size())});
      if (added) edges_.push_back({std::min(a, b), std::max(a, b)});
      int& side = a < b ? at->second.forwards : at->second.backwards;
      if (side >= 0 || a == b) throw std::invalid_argument("an edge has two faces that pass it the same way");
      side = static_cast<int>(f);
      along.push_back(at->second.edge);
    }
  }
  edge_faces_.resize(edges_.size());
  for (const auto& [ends, sides] : known) {
    if (sides.forwards < 0 || sides.backwards < 0) throw std::invalid_argument("an edge has one face only");
    edge_faces_[static_cast<std::size_t>(sides.edge)] = {sides.forwards, sides.backwards};
  }
}

bool Polyhedron::share_face(int e, int f) const noexcept {
  const auto &a = edge_faces_[static_cast<std::size_t>(e)], &b = edge_faces_[static_cast<std::size_t>(f)];
  return a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1];
}

/// The next edge in the loop of each edge; -1 if the edge is not crossed.
std::vector<int> Polyhedron::links(std::span<const char> inside) const {
  std::vector<int> next(edges_.size(), -1);
  for (std::size_t f = 0; f < faces_.size(); ++f) {
    const std::vector<int>& corners = faces_[f];
    const std::size_t count = corners.size();
    const auto is_inside = [&](std::size_t n) { return inside[static_cast<std::size_t>(corners[n % count])] != 0; };
    for (std::size_t n = 0; n < count; ++n) {
      if (!is_inside(n) || is_inside(n + 1)) continue;
      // Here the traversal of the face leaves the inside. The segment goes to the edge at which this stretch was
      // entered.
      std::size_t back = n + count;
      while (is_inside(back - 1)) --back;
      next[static_cast<std::size_t>(face_edges_[f][n])] = face_edges_[f][(back - 1) % count];
    }
  }
  return next;
}

/// Triangulates the part first..last of a loop, closed by the chord between them. Returns false if every triangulation
/// has a diagonal in a face.
bool Polyhedron::triangulate(std::span<const int> loop, std::size_t first, std::size_t last,
                             std::vector<std::array<int, 3>>& triangles) const {
  if (last - first < 2) return true;
  const auto allowed = [&](std::size_t a, std::size_t b) {
    return b - a == 1 || b - a == loop.size() - 1 || !share_face(loop[a], loop[b]);
  };
  const std::size_t before = triangles.size();
  for (std::size_t middle = first + 1; middle < last; ++middle) {
    if (!allowed(first, middle) || !allowed(middle, last)) continue;
    if (triangulate(loop, first, middle, triangles) && triangulate(loop, middle, last, triangles)) {
      triangles.push_back({loop[last], loop[middle], loop[first]});
      return true;
    }
    triangles.resize(before);
  }
  return false;
}

std::vector<std::array<int, 3>> Polyhedron::cut(std::span<const char> inside) const {
  std::vector<std::array<int, 3>> triangles;
  std::vector<int> next = links(inside), loop;
  for (std::size_t start = 0; start < next.size(); ++start) {
    loop.clear();
    for (auto e = static_cast<int>(start); next[static_cast<std::size_t>(e)] >= 0;) {
      loop.push_back(e);
      e = std::exchange(next[static_cast<std::size_t>(e)], -1);
    }
    if (loop.size() < 3) continue;
    if (loop.size() <= longest_searched && triangulate(loop, 0, loop.size() - 1, triangles)) continue;
    for (std::size_t n = 2; n < loop.size(); ++n) triangles.push_back({loop[n], loop[n - 1], loop[0]});
  }
  return triangles;
}

Polyhedron::Faces aligned(Polyhedron::Faces faces) {
  const auto passes = [](const std::vector<int>& face, int a, int b) {
    for (std::size_t n = 0; n < face.size(); ++n) {
      if (face[n] == a && face[(n + 1) % face.size()] == b) return true;
    }
    return false;
  };
  std::vector<std::size_t> reached;
  std::vector<char> known(faces.size(), 0);
  for (std::size_t seed = 0; seed < faces.size(); ++seed) {
    if (known[seed]) continue;
    known[seed] = 1;
    reached.push_back(seed);
    while (!reached.empty()) {
      const std::vector<int> face = faces[reached.back()];
      reached.pop_back();
      for (std::size_t f = 0; f < faces.size(); ++f) {
        for (std::size_t n = 0; n < face.size() && !known[f]; ++n) {
          const int a = face[n], b = face[(n + 1) % face.size()];
          const bool same = passes(faces[f], a, b);
          if (!same && !passes(faces[f], b, a)) continue;
          if (same) std::reverse(faces[f].begin(), faces[f].end());
          known[f] = 1;
          reached.push_back(f);
        }
      }
    }
  }
  return faces;
}

CellShape::CellShape(Polyhedron polyhedron) : body(std::move(polyhedron)) {
  for (const auto& [a, b] : body.edges()) {
    edges.push_back({static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)});
  }
  const int corners = body.corners();
  std::vector<char> inside(static_cast<std::size_t>(corners));
  for (int bits = 0; bits < 1 << corners; ++bits) {
    for (int n = 0; n < corners; ++n) inside[static_cast<std::size_t>(n)] = static_cast<char>(bits >> n & 1);
    Case& one = cases.emplace_back();
    one.first = static_cast<std::uint16_t>(triangles.size());
    for (const auto& [a, b, c] : body.cut(inside)) {
      triangles.push_back({static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b), static_cast<std::uint8_t>(c)});
      ++one.count;
    }
  }
}

const CellShape* shape_of(std::uint8_t type) noexcept {
  switch (type) {
    case vtk_tetra:
      return &tetrahedron();
    case vtk_voxel:
      return &voxel();
    case vtk_hexahedron:
      return &hexahedron();
    case vtk_wedge:
      return &wedge();
    case vtk_pyramid:
      return &pyramid();
    default:
      return nullptr;
  }
}

double orientation(std::uint8_t type, std::span<const std::array<double, 3>> corners) noexcept {
  std::array<Vector, 3> along{};
  if (type == vtk_tetra) {  // most meshes consist of these
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t d = 0; d < 3; ++d) along[a][d] = corners[a + 1][d] - corners[0][d];
    }
    return determinant(along[0], along[1], along[2]);
  }
  const std::array<Axis, 3>* axes = axes_of(type);
  if (axes == nullptr) return 0;
  for (std::size_t a = 0; a < 3; ++a) {
    for (const auto& [from, to] : (*axes)[a]) {
      for (std::size_t d = 0; d < 3; ++d) {
        along[a][d] += corners[static_cast<std::size_t>(to)][d] - corners[static_cast<std::size_t>(from)][d];
      }
    }
  }
  return determinant(along[0], along[1], along[2]);
}

}  // namespace sidestream
