#include "analysis/contour.hpp"

#include <cmath>
#include <memory>

#include "analysis/contour_flat.hpp"
#include "analysis/tracer.hpp"

namespace sidestream {
namespace {

constexpr Index slab_layers = 8;  // gathered at once: also right for arrays that run fastest along k

/// Slope of the number along one axis at a point: central, or one-sided where a neighbour has no value.
double slope(const PointGrid& grid, const PlaneBuffer& numbers, const Index3& p, int axis) {
  double x[2], f[2];
  for (int side = 0; side < 2; ++side) {
    Index3 q = p;
    q[axis] += side == 0 ? -1 : 1;
    if (!numbers.box().contains(q) || !std::isfinite(numbers.at(q))) q = p;
    x[side] = grid.position(axis, q[axis]);
    f[side] = numbers.at(q);
  }
  return x[0] == x[1] ? 0.0 : (f[1] - f[0]) / (x[1] - x[0]);
}

/// Makes `n` one long; false if it has no direction.
bool normalise(std::array<double, 3>& n) {
  const double length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  if (!(length > 0) || !std::isfinite(length)) return false;
  n = {n[0] / length, n[1] / length, n[2] / length};
  return true;
}

std::array<double, 3> normal_at(const PointGrid& grid, const PlaneBuffer& numbers, const CrossedEdge& edge) {
  std::array<double, 3> n;
  const Index3 upper = edge.upper();
  for (int a = 0; a < 3; ++a) {
    n[a] = -mix(slope(grid, numbers, edge.point, a), slope(grid, numbers, upper, a), edge.t);
  }
  if (normalise(n)) return n;
  // A field without slope here (a ridge, say) still falls along the edge itself.
  std::array<double, 3> along{0, 0, 0};
  along[edge.axis] = numbers.at(upper) < numbers.at(edge.point) ? 1 : -1;
  return along;
}

/// The same where the grid is curved.
std::array<double, 3> normal_at(const CurvedPoints& places, const PlaneBuffer& numbers, const CrossedEdge& edge) {
  const Index3 upper = edge.upper();
  const std::array<double, 3> a = curved_slope(places, numbers, edge.point), b = curved_slope(places, numbers, upper);
  std::array<double, 3> n;
  for (std::size_t d = 0; d < 3; ++d) n[d] = -mix(a[d], b[d], edge.t);
  if (normalise(n)) return n;
  const double sign = numbers.at(upper) < numbers.at(edge.point) ? 1 : -1;
  const std::array<double, 3> from = places.at(edge.point), to = places.at(upper);
  for (std::size_t d = 0; d < 3; ++d) n[d] = sign * (to[d] - from[d]);
  return normalise(n) ? n : std::array<double, 3>{0, 0, sign};
}

/// The smallest box of points that holds both ends of all edges.
Box around(const std::vector<CrossedEdge>& edges) {
  Box box{edges[0].point, edges[0].point};
  for (const CrossedEdge& edge : edges) {
    const Index3 upper = edge.upper();
    for (int a = 0; a < 3; ++a) {
      box.lo[a] = std::min(box.lo[a], edge.point[a]);
      box.hi[a] = std::max(box.hi[a], upper[a] + 1);
    }
  }
  return box;
}

void add_normals(const ContourRequest& request, const PlaneBuffer& numbers, const Tracer& tracer) {
  for (const CrossedEdge& edge : tracer.fresh()) {
    tracer.piece().normals.push_back(request.curved ? normal_at(*request.curved, numbers, edge)
                                                    : normal_at(request.grid, numbers, edge));
  }
}

void add_attributes(const ContourRequest& request, const Tracer& tracer, std::vector<double>& scratch) {
  const Box box = around(tracer.fresh());
  scratch.resize(static_cast<std::size_t>(box.count()));
  const auto at = [&](const Index3& p) {
    return scratch[static_cast<std::size_t>(((p[2] - box.lo[2]) * box.extent(1) + (p[1] - box.lo[1])) * box.extent(0) +
                                            (p[0] - box.lo[0]))];
  };
  for (std::size_t n = 0; n < request.attributes.size(); ++n) {
    request.attributes[n]->fill(box, scratch.data());
    for (const CrossedEdge& edge : tracer.fresh()) {
      tracer.piece().data[n].push_back(mix(at(edge.point), at(edge.upper()), edge.t));
    }
  }
}

/// Axes that run downwards mirror space and with it the sense of the triangles.
bool mirrored(const PointGrid& grid) {
  bool odd = false;
  if (grid.curved()) return odd;  // told for each cell
  for (int a = 0; a < 3; ++a) {
    const Box& box = grid.points();
    if (grid.position(a, box.hi[a] - 1) < grid.position(a, box.lo[a])) odd = !odd;
  }
  return odd;
}

/// Places the vertices of a curved grid that have none yet, and turns the triangles from number `first` on that lie in
/// mirrored cells; those with a vertex without a place go.
void place(const ContourRequest& request, const Tracer& tracer, std::size_t first) {
  Piece& piece = tracer.piece();
  for (const CrossedEdge& edge : tracer.fresh()) {
    piece.points.push_back(mix(request.curved->at(edge.point), request.curved->at(edge.upper()), edge.t));
  }
  std::int64_t cell = -1;
  double volume = 0;
  std::size_t kept = first;
  for (std::size_t n = first; n < piece.triangles.size(); ++n) {
    if (piece.cells[n] != cell) volume = request.curved->volume(request.grid.point(piece.cells[n]));
    cell = piece.cells[n];
    const auto placed = [&](std::int64_t v) {
      const auto& [x, y, z] = piece.points[static_cast<std::size_t>(v)];
      return std::isfinite(x) && std::isfinite(y) && std::isfinite(z);
    };
    const auto& [a, b, c] = piece.triangles[n];
    if (!placed(a) || !placed(b) || !placed(c)) continue;
    piece.triangles[kept] = piece.triangles[n];
    piece.cells[kept] = cell;
    if (volume < 0) std::swap(piece.triangles[kept][1], piece.triangles[kept][2]);
    ++kept;
  }
  piece.triangles.resize(kept);
  piece.cells.resize(kept);
}

/// All values through one box of cells, slab by slab.
void contour_box(const ContourRequest& request, const Box& cells, std::span<const double> values,
                 std::vector<Piece>& pieces) {
  PlaneBuffer numbers(request.scalar);
  const bool reverse = request.reverse != mirrored(request.grid);
  std::vector<std::unique_ptr<Tracer>> tracers;
  for (std::size_t v = 0; v < values.size(); ++v) {
    tracers.push_back(
        std::make_unique<Tracer>(request.grid, cells, numbers, values[v], reverse, request.merge_at_points, pieces[v]));
  }
  std::vector<double> scratch;
  for (Index k = cells.lo[2]; k < cells.hi[2]; k += slab_layers) {
    const Index end = std::min(cells.hi[2], k + slab_layers);
    const Box points{{cells.lo[0], cells.lo[1], k}, {cells.hi[0] + 1, cells.hi[1] + 1, end + 1}};
    if (!request.scalar.may_cross(points)) continue;
    numbers.move_to(request.normals ? intersection(grown(points, 1), request.grid.points()) : points);
    for (const auto& tracer : tracers) {
      const std::size_t before = tracer->piece().triangles.size();
      for (Index layer = k; layer < end; ++layer) tracer->layer(layer);
      if (request.curved && tracer->piece().triangles.size() + tracer->fresh().size() > before) {
        request.curved->move_to(numbers.box());
        place(request, *tracer, before);
      }
      if (tracer->fresh().empty()) continue;
      if (request.normals) add_normals(request, numbers, *tracer);
      if (!request.attributes.empty()) add_attributes(request, *tracer, scratch);
      tracer->forget();
    }
  }
}

}  // namespace

std::vector<Piece> contour(const ContourRequest& request, std::span<const double> values) {
  std::vector<Piece> pieces(values.size());
  for (std::size_t v = 0; v < values.size(); ++v) {
    pieces[v].layer = static_cast<std::int32_t>(v);
    pieces[v].data.resize(request.attributes.size());
  }
  if (request.grid.flat()) {
    contour_flat(request, values, pieces);
    return pieces;
  }
  for (const Box& cells : request.cells) contour_box(request, cells, values, pieces);
  return pieces;
}

}  // namespace sidestream
