// Computes the case table of marching cubes at compile time. For each case, every face joins its crossed edges: from
// the edge at which a counter-clockwise traversal leaves a stretch of inside corners to the edge at which it entered.
// These links form loops; each loop is triangulated by a search that allows no diagonal in a face.
#include "visualisation/contour/case_table.hpp"

namespace sidestream {
namespace {

constexpr int axis_bit(int axis) { return axis == 0 ? 4 : axis == 1 ? 1 : 2; }

constexpr std::array<CellEdge, 12> make_edges() {
  std::array<CellEdge, 12> edges{};
  int n = 0;
  for (int axis = 0; axis < 3; ++axis) {
    for (int corner = 0; corner < 8; ++corner) {
      if ((corner & axis_bit(axis)) == 0) {
        edges[n++] = {static_cast<std::uint8_t>(corner), static_cast<std::uint8_t>(axis)};
      }
    }
  }
  return edges;
}

constexpr std::array<CellEdge, 12> cell_edges = make_edges();

constexpr int edge_between(int a, int b) {
  for (int e = 0; e < 12; ++e) {
    const int low = cell_edges[e].corner, high = low | axis_bit(cell_edges[e].axis);
    if ((a == low && b == high) || (a == high && b == low)) return e;
  }
  return -1;
}

/// The corners of face `face` (axis * 2 + side), counter-clockwise seen from outside the cell.
constexpr std::array<int, 4> face_corners(int face) {
  const int axis = face / 2, side = face % 2;
  const int u = axis_bit((axis + 1) % 3), v = axis_bit((axis + 2) % 3), base = side ? axis_bit(axis) : 0;
  if (side) return {base, base | u, base | u | v, base | v};
  return {base, base | v, base | u | v, base | u};
}

/// True if both edges lie in one face.
constexpr bool share_face(int e, int f) {
  for (int face = 0; face < 6; ++face) {
    const std::array<int, 4> corners = face_corners(face);
    bool has_e = false, has_f = false;
    for (int n = 0; n < 4; ++n) {
      const int edge = edge_between(corners[n], corners[(n + 1) % 4]);
      has_e = has_e || edge == e;
      has_f = has_f || edge == f;
    }
    if (has_e && has_f) return true;
  }
  return false;
}

/// next[e]: the next edge of the loop through e; -1 where e is not crossed.
constexpr std::array<int, 12> link_edges(int inside) {
  std::array<int, 12> next{};
  next.fill(-1);
  for (int face = 0; face < 6; ++face) {
    const std::array<int, 4> corners = face_corners(face);
    for (int n = 0; n < 4; ++n) {
      const int here = corners[n], there = corners[(n + 1) % 4];
      if (!(inside >> here & 1) || (inside >> there & 1)) continue;
      // Here the traversal of the face leaves the inside; the segment goes to where this stretch of inside was entered.
      int back = n;
      while (inside >> corners[(back + 3) % 4] & 1) back = (back + 3) % 4;
      next[edge_between(here, there)] = edge_between(corners[(back + 3) % 4], corners[back]);
    }
  }
  return next;
}

struct Loop {
  std::array<int, 12> edges{};
  int size = 0;
};

/// Triangulates the part first..last of a loop, closed by the chord from last to first. Loops run clockwise seen from
/// outside, triangles the other way. Returns false if every triangulation has a diagonal in a face.
constexpr bool cut(const Loop& loop, int first, int last, CellCase& out) {
  if (last - first < 2) return true;
  const auto is_side = [&](int a, int b) { return b - a == 1 || b - a == loop.size - 1; };
  const auto allowed = [&](int a, int b) { return is_side(a, b) || !share_face(loop.edges[a], loop.edges[b]); };
  for (int middle = first + 1; middle < last; ++middle) {
    if (!allowed(first, middle) || !allowed(middle, last)) continue;
    CellCase trial = out;
    if (!cut(loop, first, middle, trial) || !cut(loop, middle, last, trial)) continue;
    trial.triangles[trial.count++] = {static_cast<std::uint8_t>(loop.edges[last]),
                                      static_cast<std::uint8_t>(loop.edges[middle]),
                                      static_cast<std::uint8_t>(loop.edges[first])};
    out = trial;
    return true;
  }
  return false;
}

constexpr CellCase make_case(int inside) {
  CellCase result;
  std::array<int, 12> next = link_edges(inside);
  for (int start = 0; start < 12; ++start) {
    Loop loop;
    for (int e = start; next[e] >= 0;) {
      loop.edges[loop.size++] = e;
      const int following = next[e];
      next[e] = -1;
      e = following;
    }
    // A compile-time error here would mean that a loop cannot be cut; there is none.
    if (!cut(loop, 0, loop.size - 1, result)) throw "no triangulation";
  }
  return result;
}

constexpr CaseTable make_table() {
  CaseTable table{cell_edges, {}};
  for (int inside = 0; inside < 256; ++inside) table.cases[inside] = make_case(inside);
  return table;
}

}  // namespace

constinit const CaseTable case_table = make_table();

}  // namespace sidestream
