// The contour kernel's choice of method. Values of a block's array go through flying edges. Other scalar sources
// (planes, averaged fields) are traced slab by slab with marching cubes: a few planes of numbers are gathered at once,
// each value is traced through the layers of the slab, and the new vertices get their positions (curved grids) and
// attributes.
#include "visualisation/contour/contour.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "visualisation/contour/flying_edges.hpp"
#include "visualisation/contour/marching_cubes_cell.hpp"
#include "visualisation/contour/row_normals.hpp"

namespace sidestream {
namespace {

constexpr Index slab_layers = 8;    // gathered at once: suits arrays that run fastest along k too
constexpr Index curved_layers = 2;  // few enough for coordinates to be in the cache when vertices are placed

/// The smallest box of points that contains both ends of all edges.
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

/// Interpolates the attributes of the vertices on these edges, then clears the list.
void add_attributes(const ContourRequest& request, std::vector<CrossedEdge>& edges, Piece& piece,
                    std::vector<double>& scratch) {
  if (edges.empty()) return;
  const Box box = around(edges);
  scratch.resize(static_cast<std::size_t>(box.count()));
  const auto at = [&](const Index3& p) {
    return scratch[static_cast<std::size_t>(((p[2] - box.lo[2]) * box.extent(1) + (p[1] - box.lo[1])) * box.extent(0) +
                                            (p[0] - box.lo[0]))];
  };
  for (std::size_t n = 0; n < request.attributes.size(); ++n) {
    request.attributes[n]->fill(box, scratch.data());
    for (const CrossedEdge& edge : edges) {
      piece.data[n].push_back(mix(at(edge.point), at(edge.upper()), edge.t, request.period));
    }
  }
  edges.clear();
}

/// Converts numbers to points; they mostly lie in the row of the previous one, and divisions are slow.
class PointOfNumber {
 public:
  explicit PointOfNumber(const PointGrid& grid) : grid_(grid) {}
  Index3 operator()(std::int64_t number) {
    const Index along = number - start_;
    if (along < 0 || along >= grid_.points().extent(0)) {
      row_ = grid_.point(number);
      row_[0] = grid_.points().lo[0];
      start_ = grid_.number(row_);
    }
    return {row_[0] + (number - start_), row_[1], row_[2]};
  }

 private:
  const PointGrid& grid_;
  std::int64_t start_ = std::numeric_limits<std::int64_t>::min() / 2;
  Index3 row_{};
};

/// Computes positions of new vertices on a curved grid. Reverses the triangles from number `first` on that lie in
/// mirrored cells, and drops those with a vertex without a position.
void place(const ContourRequest& request, const MarchingCubesCell& tracer, std::size_t first) {
  Piece& piece = tracer.piece();
  constexpr std::size_t ahead = 8;
  const std::vector<CrossedEdge>& fresh = tracer.fresh();
  for (std::size_t n = 0; n < fresh.size(); ++n) {
    if (n + ahead < fresh.size()) request.curved->announce(fresh[n + ahead].point);
    const CrossedEdge& edge = fresh[n];
    piece.points.push_back(mix(request.curved->at(edge.point), request.curved->at(edge.upper()), edge.t));
  }
  PointOfNumber point(request.grid), point_ahead(request.grid);
  std::int64_t cell = -1;
  double volume = 0;
  std::size_t kept = first;
  for (std::size_t n = first; n < piece.triangles.size(); ++n) {
    if (n + ahead < piece.triangles.size()) request.curved->announce(point_ahead(piece.cells[n + ahead]));
    if (piece.cells[n] != cell) volume = request.curved->volume(point(piece.cells[n]));
    cell = piece.cells[n];
    const auto placed = [&](std::int64_t v) {
      const auto [x, y, z] = piece.points[static_cast<std::size_t>(v)];
      return std::isfinite(x) && std::isfinite(y) && std::isfinite(z);
    };
    const auto [a, b, c] = piece.triangles[n];
    if (!placed(a) || !placed(b) || !placed(c)) continue;
    piece.triangles.set(kept, volume < 0 ? std::array{a, c, b} : std::array{a, b, c});
    piece.cells[kept] = cell;
    ++kept;
  }
  piece.triangles.resize(kept);
  piece.cells.resize(kept);
}

/// Collects the rows of one value as a piece.
class PieceRows final : public ContourRows {
 public:
  PieceRows(const ContourRequest& request, Piece& piece) : request_(request), piece_(piece) {
    piece.points.keep_narrow(request.single);
    piece.normals.keep_narrow(request.single);
    piece.triangles.keep_narrow(true);
  }

  void expect(std::size_t points, std::size_t triangles) override {
    piece_.points.reserve(points);
    piece_.keys.reserve(points);
    if (request_.normals) piece_.normals.reserve(points);
    for (auto& data : piece_.data) data.reserve(points);
    piece_.triangles.reserve(triangles);
    piece_.cells.reserve(triangles);
    expected_ = triangles;
  }

  void take(const PointRow& row) override {
    const std::size_t before = piece_.keys.size();
    append(row.places, piece_.points);
    if (request_.normals) append(row.normals, piece_.normals);
    const std::int64_t first = 4 * request_.grid.number(row.first);
    piece_.keys.resize(before + row.at.size());
    for (std::size_t n = 0; n < row.at.size(); ++n) {
      piece_.keys[before + n] = first + 4 * std::int64_t{row.at[n]} + row.axis[n];
    }
    if (request_.attributes.empty()) return;
    for (std::size_t n = 0; n < row.at.size(); ++n) {
      edges_.push_back({{row.first[0] + row.at[n], row.first[1], row.first[2]}, row.axis[n], row.t[n]});
    }
  }

  void take(const TriangleRow& row) override {
    const std::size_t before = piece_.cells.size();
    piece_.triangles.resize(before + row.corners.size());
    std::copy(row.corners.begin(), row.corners.end(), piece_.triangles.narrow().begin() + offset(before));
    const std::int64_t first = request_.grid.number(row.first);
    piece_.cells.resize(before + row.at.size());
    for (std::size_t n = 0; n < row.at.size(); ++n) piece_.cells[before + n] = first + row.at[n];
  }

  void end_plane(Index k) override {
    if (!edges_.empty() && k - edges_.front().point[2] >= slab_layers - 1) finish();
  }

  void finish() {
    piece_.in_order = piece_.cells.size() == expected_;
    add_attributes(request_, edges_, piece_, scratch_);
  }

 private:
  static std::ptrdiff_t offset(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }
  static void append(std::span<const std::array<double, 3>> from, PackedPlaces& to) {
    const std::size_t before = to.size();
    to.resize(before + from.size());
    if (to.is_narrow()) {
      std::transform(from.begin(), from.end(), to.narrow().begin() + offset(before), PackedPlaces::narrowed);
    } else {
      std::copy(from.begin(), from.end(), to.wide().begin() + offset(before));
    }
  }

  const ContourRequest& request_;
  Piece& piece_;
  std::size_t expected_ = 0;
  std::vector<CrossedEdge> edges_;  ///< edges whose vertices have no attributes yet
  std::vector<double> scratch_;
};

/// Traces the values through all cells of a block, one piece per box.
std::vector<Piece> contour_view(const ContourRequest& request, std::span<const double> values) {
  std::vector<Piece> pieces;
  for (std::size_t v = 0; v < values.size(); ++v) {
    for (const Box& whole : request.cells) {
      for (const Box& cells : cut_for_flying(whole)) {
        Piece& piece = pieces.emplace_back();
        piece.layer = static_cast<std::int32_t>(v);
        piece.data.resize(request.attributes.size());
        PieceRows rows(request, piece);
        fly_edges(request, cells, values[v], rows);
        rows.finish();
      }
    }
  }
  return pieces;
}

/// Traces all values through one box of cells, slab by slab.
void contour_box(const ContourRequest& request, const Box& cells, std::span<const double> values,
                 std::vector<Piece>& pieces) {
  PlaneBuffer numbers(request.scalar);
  const bool reverse = request.reverse != mirrored(request.grid);
  std::vector<std::unique_ptr<MarchingCubesCell>> tracers;
  for (std::size_t v = 0; v < values.size(); ++v) {
    tracers.push_back(std::make_unique<MarchingCubesCell>(request.grid, cells, numbers, values[v], reverse,
                                                          request.merge_at_points, pieces[v]));
  }
  std::vector<double> scratch;
  std::vector<std::vector<CrossedEdge>> pending(values.size());  // vertices without attributes
  const bool few = request.curved && request.curved->at_nodes() && !request.curved->along_k();
  const Index layers = few ? curved_layers : slab_layers;
  for (Index k = cells.lo[2]; k < cells.hi[2]; k += layers) {
    const Index end = std::min(cells.hi[2], k + layers);
    const Box points{{cells.lo[0], cells.lo[1], k}, {cells.hi[0] + 1, cells.hi[1] + 1, end + 1}};
    if (!request.scalar.may_cross(points)) continue;
    numbers.move_to(points);
    for (std::size_t v = 0; v < tracers.size(); ++v) {
      MarchingCubesCell& tracer = *tracers[v];
      const std::size_t before = tracer.piece().triangles.size();
      for (Index layer = k; layer < end; ++layer) tracer.layer(layer);
      if (request.curved && tracer.piece().triangles.size() + tracer.fresh().size() > before) {
        request.curved->move_to(numbers.box());
        place(request, tracer, before);
      }
      if (!request.attributes.empty()) {
        pending[v].insert(pending[v].end(), tracer.fresh().begin(), tracer.fresh().end());
      }
      tracer.forget();
      const bool due = !pending[v].empty() && end - pending[v].front().point[2] >= slab_layers;
      if (due || layers == slab_layers) add_attributes(request, pending[v], pieces[v], scratch);
    }
  }
  for (std::size_t v = 0; v < tracers.size(); ++v) add_attributes(request, pending[v], pieces[v], scratch);
}

}  // namespace

bool mirrored(const PointGrid& grid) {
  bool odd = false;
  if (grid.curved()) return odd;
  for (int a = 0; a < 3; ++a) {
    const Box& box = grid.points();
    if (grid.position(a, box.hi[a] - 1) < grid.position(a, box.lo[a])) odd = !odd;
  }
  return odd;
}

std::vector<Piece> contour(const ContourRequest& request, std::span<const double> values) {
  if (request.view != nullptr && !request.grid.flat() && !request.merge_at_points) return contour_view(request, values);
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
