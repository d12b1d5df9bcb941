// Sections of axis-aligned cells by a plane. A table gives the loop of crossed edges for the set of corners below the
// plane. It is built by going from edge to edge across the faces; each face has two crossed edges or none. The points
// on an edge are computed from the line of the mesh through it, so that cells with the same line get the same bits.
#include "visualisation/mesh/cells/cell_section.hpp"

#include <algorithm>

namespace sidestream {
namespace {

constexpr int edge_count = 12;

constexpr std::array<SectionEdge, edge_count> make_edges() {
  std::array<SectionEdge, edge_count> edges{};
  std::size_t n = 0;
  for (std::uint8_t axis = 0; axis < 3; ++axis) {
    for (std::uint8_t corner = 0; corner < 8; ++corner) {
      if ((corner >> axis & 1) == 0) edges[n++] = {corner, axis};
    }
  }
  return edges;
}
constexpr std::array<SectionEdge, edge_count> edges = make_edges();

/// A polygon as the list of the edges that have its corners.
struct Loop {
  std::uint8_t count = 0;
  std::array<std::uint8_t, 6> edges{};
};

constexpr bool on_face(const SectionEdge& edge, int axis, int side) {
  return edge.axis != axis && (edge.corner >> axis & 1) == side;
}
constexpr bool crossed(const SectionEdge& edge, unsigned below) {
  return (below >> edge.corner & 1U) != (below >> (edge.corner | 1U << edge.axis) & 1U);
}

/// The other crossed edge of a face, or -1: a plane crosses two edges of a face or none.
constexpr int across(int from, int axis, int side, unsigned below) {
  int other = -1;
  for (int e = 0; e < edge_count; ++e) {
    const SectionEdge& edge = edges[static_cast<std::size_t>(e)];
    if (e != from && on_face(edge, axis, side) && crossed(edge, below)) other = other < 0 ? e : -2;
  }
  return other;
}

/// True if the loop is counter-clockwise seen from the corners that are not below, by Newell's normal of the midpoints
/// of its edges.
constexpr bool turns_left(const Loop& loop, unsigned below) {
  const auto middle = [&](int n, int axis) {  // in half cells
    const SectionEdge& edge = edges[loop.edges[static_cast<std::size_t>(n % loop.count)]];
    return edge.axis == axis ? 1 : 2 * (edge.corner >> axis & 1);
  };
  int sense = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    int normal = 0, up = 0;
    for (int n = 0; n < loop.count; ++n) {
      normal += middle(n, u) * middle(n + 1, v) - middle(n, v) * middle(n + 1, u);
    }
    for (int corner = 0; corner < 8; ++corner) {
      up += ((corner >> axis & 1) != 0 ? 1 : -1) * ((below >> corner & 1U) != 0 ? -1 : 1);
    }
    sense += normal * up;
  }
  return sense > 0;
}

/// The loop of a case. The set of corners below a plane is a monotonic function of three signs, for which each face has
/// two crossed edges or none and the crossed edges form one loop. Other cases do not occur and have no loop.
constexpr Loop make_loop(unsigned below) {
  Loop loop;
  int first = -1;
  for (int e = edge_count; e-- > 0;) {
    if (crossed(edges[static_cast<std::size_t>(e)], below)) first = e;
  }
  int at = first, came_over = -1;
  while (at >= 0 && loop.count < 6) {
    loop.edges[loop.count++] = static_cast<std::uint8_t>(at);
    int next = -1, over = -1;
    for (int face = 0; face < 6 && next < 0; ++face) {
      const SectionEdge& edge = edges[static_cast<std::size_t>(at)];
      if (face == came_over || !on_face(edge, face / 2, face % 2)) continue;
      next = across(at, face / 2, face % 2, below);
      over = face;
      if (next == -2) return {};
    }
    came_over = over;
    at = next;
    if (at == first) break;
  }
  if (loop.count < 3 || at != first) return {};
  if (!turns_left(loop, below)) std::reverse(loop.edges.begin() + 1, loop.edges.begin() + loop.count);
  return loop;
}

constexpr std::array<Loop, 256> make_loops() {
  std::array<Loop, 256> loops{};
  for (unsigned below = 0; below < 256; ++below) loops[below] = make_loop(below);
  return loops;
}

/// Computed once, when the library is loaded.
const std::array<Loop, 256> loops = make_loops();

}  // namespace

SectionEdge section_edge(int edge) noexcept { return edges[static_cast<std::size_t>(edge)]; }

CellSections::CellSections(const Plane& plane, const CellEnds& whole, int dimensions)
    : plane_(plane), dimensions_(dimensions) {
  const Terms all = terms(whole);
  const auto least = [&](std::size_t a) { return std::min(all[a][0], all[a][1]); };
  if (least(0) + (least(1) + least(2)) < 0) return;
  turned_ = true;
  for (double& n : plane_.normal) n = -n;
}

CellSections::Terms CellSections::terms(const CellEnds& ends) const noexcept {
  Terms terms;
  for (std::size_t a = 0; a < 3; ++a) terms[a] = {term(a, ends[a][0]), term(a, ends[a][1])};
  return terms;
}

bool CellSections::cuts(const CellEnds& ends) const noexcept {
  const Terms t = terms(ends);
  const auto least = [&](std::size_t a) { return std::min(t[a][0], t[a][1]); };
  const auto most = [&](std::size_t a) { return std::max(t[a][0], t[a][1]); };
  return least(0) + (least(1) + least(2)) < 0 && most(0) + (most(1) + most(2)) >= 0;
}

SectionPoint CellSections::point_on(int number, const CellEnds& ends, const Terms& t) const noexcept {
  const SectionEdge edge = edges[static_cast<std::size_t>(number)];
  const auto side = [&](int axis) { return static_cast<std::size_t>(edge.corner >> axis & 1); };
  const std::size_t along = edge.axis;
  SectionPoint point{{ends[0][side(0)], ends[1][side(1)], ends[2][side(2)]}, static_cast<std::uint8_t>(number), 0};
  const auto distance = [&](std::size_t end) {
    std::array<double, 3> at{t[0][side(0)], t[1][side(1)], t[2][side(2)]};
    at[along] = t[along][end];
    return at[0] + (at[1] + at[2]);
  };
  const auto [first, last] = ends[along];
  if (distance(0) == 0) return point;
  if (distance(1) == 0) {
    point.place[along] = last;
    point.along = 1;
    return point;
  }
  const int u = along == 0 ? 1 : 0, v = along == 2 ? 1 : 2;
  const double rest = t[static_cast<std::size_t>(u)][side(u)] + t[static_cast<std::size_t>(v)][side(v)];
  const double x = plane_.origin[along] - rest / plane_.normal[along];
  point.place[along] = std::clamp(x, std::min(first, last), std::max(first, last));
  point.along = (point.place[along] - first) / (last - first);
  return point;
}

void CellSections::line(const CellEnds& ends, const Terms& terms, unsigned below,
                        std::vector<SectionPoint>& points) const {
  for (int e = 0; e < edge_count; ++e) {
    const SectionEdge& edge = edges[static_cast<std::size_t>(e)];
    if (edge.axis < 2 && edge.corner < 4 && crossed(edge, below)) points.push_back(point_on(e, ends, terms));
  }
  if (points.size() != 2 || points[0].place == points[1].place) return points.clear();
  const double dx = points[1].place[0] - points[0].place[0], dy = points[1].place[1] - points[0].place[1];
  const bool right = (plane_.normal[0] * dy - plane_.normal[1] * dx > 0) != turned_;
  if (!right) std::swap(points[0], points[1]);
}

void CellSections::section(const CellEnds& ends, std::vector<SectionPoint>& points) const {
  points.clear();
  const Terms t = terms(ends);
  unsigned below = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    const double d = t[0][corner & 1] + (t[1][corner >> 1 & 1] + t[2][corner >> 2]);
    below |= d < 0 ? 1U << corner : 0;
  }
  if (dimensions_ == 2) return line(ends, t, below, points);
  const Loop& loop = loops[below];
  for (std::size_t n = 0; n < loop.count; ++n) {
    const SectionPoint point = point_on(loop.edges[n], ends, t);
    if (points.empty() || points.back().place != point.place) points.push_back(point);
  }
  while (points.size() > 1 && points.back().place == points.front().place) points.pop_back();
  bool mirrored = turned_;
  for (const auto& [first, last] : ends) mirrored ^= last < first;
  if (mirrored) std::reverse(points.begin(), points.end());
}

}  // namespace sidestream
