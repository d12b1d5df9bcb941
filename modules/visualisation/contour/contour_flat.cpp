// Marching squares. Each cell's case, by the bits of its inside corners, lists its line segments; where two opposite
// corners are inside, both are cut off. Vertices are found again by the key of their edge in a hash table. Rows of
// cells are processed in slabs, for which the numbers are gathered at once.
#include "visualisation/contour/contour.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "visualisation/contour/marching_cubes_cell.hpp"

namespace sidestream {
namespace {

constexpr Index slab_rows = 64;  ///< rows of cells that are gathered at once

/// An edge of a cell: it starts at the cell's corner (dx, dy) and runs along the axis.
struct SquareEdge {
  int dx, dy, axis;
};
enum : int { bottom, top, left, right };
constexpr SquareEdge square_edges[] = {{0, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}};

struct SquareCase {
  int count;
  std::array<std::array<int, 2>, 2> lines;  ///< from edge to edge, with the inside on the left
};

/// Cases by the bits of inside corners: bit dx + 2 dy.
constexpr SquareCase square_cases[16] = {
    {0, {}},
    {1, {{{bottom, left}}}},
    {1, {{{right, bottom}}}},
    {1, {{{right, left}}}},
    {1, {{{left, top}}}},
    {1, {{{bottom, top}}}},
    {2, {{{right, bottom}, {left, top}}}},
    {1, {{{right, top}}}},
    {1, {{{top, right}}}},
    {2, {{{bottom, left}, {top, right}}}},
    {1, {{{top, bottom}}}},
    {1, {{{top, left}}}},
    {1, {{{left, right}}}},
    {1, {{{bottom, right}}}},
    {1, {{{left, bottom}}}},
    {0, {}},
};

/// The numbers at some rows of points.
class Rows {
 public:
  void fill(ScalarSource& source, const Box& points) {
    box_ = points;
    values_.resize(static_cast<std::size_t>(points.count()));
    source.fill(points, values_.data());
  }
  [[nodiscard]] double at(const Index3& p) const {
    return values_[static_cast<std::size_t>((p[1] - box_.lo[1]) * box_.extent(0) + (p[0] - box_.lo[0]))];
  }

 private:
  Box box_;
  std::vector<double> values_;
};

/// True if the plane is mirrored: an axis that runs downwards exchanges the left and the right side.
bool mirrored_plane(const PointGrid& grid) {
  bool odd = false;
  if (grid.curved()) return odd;  // decided for each cell
  for (int a = 0; a < 2; ++a) {
    const Box& box = grid.points();
    if (grid.position(a, box.hi[a] - 1) < grid.position(a, box.lo[a])) odd = !odd;
  }
  return odd;
}

/// Traces one value through one box of cells.
class SquareTracer {
 public:
  SquareTracer(const ContourRequest& request, double value, Piece& piece)
      : request_(request), value_(value), reverse_(request.reverse != mirrored_plane(request.grid)), piece_(piece) {}

  void cell(const Index3& p, const Rows& numbers) {
    int inside = 0;
    for (int corner = 0; corner < 4; ++corner) {
      const double number = numbers.at({p[0] + (corner & 1), p[1] + (corner >> 1), p[2]});
      if (!std::isfinite(number)) return;
      inside |= (number >= value_) << corner;
    }
    if (inside == 0 || inside == 15) return;
    const double area = request_.curved ? request_.curved->area(p) : 1;
    if (!std::isfinite(area)) return;
    const SquareCase& what = square_cases[inside];
    for (int n = 0; n < what.count; ++n) {
      std::array<std::int64_t, 2> line{};
      for (std::size_t end = 0; end < 2; ++end) {
        const SquareEdge& edge = square_edges[what.lines[static_cast<std::size_t>(n)][end]];
        line[end] = vertex({p[0] + edge.dx, p[1] + edge.dy, p[2]}, edge.axis, numbers);
      }
      if (line[0] == line[1]) continue;
      if (reverse_ != (area < 0)) std::swap(line[0], line[1]);
      piece_.lines.push_back(line);
      piece_.cells.push_back(request_.grid.number(p));
    }
  }
  /// Interpolates the attributes of the vertices that were made since the last call.
  void add_attributes(const Box& points) {
    Rows values;
    for (std::size_t n = 0; n < request_.attributes.size() && !fresh_.empty(); ++n) {
      values.fill(*request_.attributes[n], points);
      for (const CrossedEdge& edge : fresh_) {
        piece_.data[n].push_back(mix(values.at(edge.point), values.at(edge.upper()), edge.t, request_.period));
      }
    }
    fresh_.clear();
  }

 private:
  std::int64_t vertex(const Index3& p, int axis, const Rows& numbers) {
    const CrossedEdge edge{p, axis, crossing(numbers.at(p), numbers.at(CrossedEdge{p, axis, 0}.upper()), value_)};
    const bool at_point = request_.merge_at_points && (edge.t == 0 || edge.t == 1);
    const Index3 named = at_point && edge.t == 1 ? edge.upper() : p;
    const std::int64_t key = 4 * request_.grid.number(named) + (at_point ? 3 : axis);
    const auto [found, added] = known_.try_emplace(key, static_cast<std::int64_t>(piece_.points.size()));
    if (added) {
      piece_.points.push_back(place_of(edge));
      piece_.keys.push_back(key);
      fresh_.push_back(edge);
    }
    return found->second;
  }

  [[nodiscard]] std::array<double, 3> place_of(const CrossedEdge& edge) const {
    if (request_.curved) return mix(request_.curved->at(edge.point), request_.curved->at(edge.upper()), edge.t);
    std::array<double, 3> at = request_.grid.position(edge.point);
    const auto a = static_cast<std::size_t>(edge.axis);
    at[a] = mix(at[a], request_.grid.position(edge.axis, edge.point[a] + 1), edge.t);
    return at;
  }

  const ContourRequest& request_;
  const double value_;
  const bool reverse_;
  Piece& piece_;
  std::unordered_map<std::int64_t, std::int64_t> known_;  ///< number of the point by key
  std::vector<CrossedEdge> fresh_;
};

/// The points of some rows of cells.
Box corners_of(const Box& cells) { return {cells.lo, {cells.hi[0] + 1, cells.hi[1] + 1, cells.lo[2] + 1}}; }

}  // namespace

void contour_flat(const ContourRequest& request, std::span<const double> values, std::vector<Piece>& pieces) {
  Rows numbers;
  for (const Box& cells : request.cells) {
    std::vector<SquareTracer> tracers;
    for (std::size_t v = 0; v < values.size(); ++v) tracers.emplace_back(request, values[v], pieces[v]);
    for (Index first = cells.lo[1]; first < cells.hi[1]; first += slab_rows) {
      Box slab = cells;
      slab.lo[1] = first;
      slab.hi[1] = std::min(cells.hi[1], first + slab_rows);
      const Box points = corners_of(slab);
      if (!request.scalar.may_cross(points)) continue;
      numbers.fill(request.scalar, points);
      if (request.curved) request.curved->move_to(points);
      for (SquareTracer& tracer : tracers) {
        for (Index j = slab.lo[1]; j < slab.hi[1]; ++j) {
          for (Index i = slab.lo[0]; i < slab.hi[0]; ++i) tracer.cell({i, j, cells.lo[2]}, numbers);
        }
        tracer.add_attributes(points);
      }
    }
  }
}

Piece all_cells(const ContourRequest& request) {
  Piece piece;
  piece.data.resize(request.attributes.size());
  const bool reverse = request.reverse != mirrored_plane(request.grid);
  for (const Box& cells : request.cells) {
    const Box points = corners_of(cells);
    const auto before = static_cast<std::int64_t>(piece.points.size());
    const Index row = points.extent(0), k = cells.lo[2];
    if (request.curved) request.curved->move_to(points);
    for (Index j = points.lo[1]; j < points.hi[1]; ++j) {
      for (Index i = points.lo[0]; i < points.hi[0]; ++i) {
        piece.points.push_back(request.curved ? request.curved->at({i, j, k}) : request.grid.position({i, j, k}));
        piece.keys.push_back(4 * request.grid.number({i, j, k}) + 3);
      }
    }
    for (std::size_t n = 0; n < request.attributes.size(); ++n) {
      piece.data[n].resize(piece.points.size());
      request.attributes[n]->fill(points, piece.data[n].data() + before);
    }
    for (Index j = cells.lo[1]; j < cells.hi[1]; ++j) {
      for (Index i = cells.lo[0]; i < cells.hi[0]; ++i) {
        const std::int64_t a = before + (j - points.lo[1]) * row + (i - points.lo[0]), b = a + 1, c = a + row,
                           d = c + 1;
        const double area = request.curved ? request.curved->area({i, j, k}) : 1;
        if (!std::isfinite(area)) continue;
        const bool turned = reverse != (area < 0);
        piece.triangles.push_back(turned ? std::array{a, d, b} : std::array{a, b, d});
        piece.triangles.push_back(turned ? std::array{a, c, d} : std::array{a, d, c});
        piece.cells.insert(piece.cells.end(), 2, request.grid.number({i, j, k}));
      }
    }
  }
  return piece;
}

}  // namespace sidestream
