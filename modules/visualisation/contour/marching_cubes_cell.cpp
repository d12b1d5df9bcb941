// Marching cubes in one box of cells, with a table of cases that is computed at compile time.
//
// For each case, every face joins its crossed edges: from the edge at which a counter-clockwise traversal leaves a
// stretch of inside corners to the edge at which it entered. These links form loops; each loop is triangulated by a
// search that allows no diagonal in a face.
#include "visualisation/contour/marching_cubes_cell.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace sidestream {

namespace {

constexpr Index stride = 8;  // points that are tested together when skipping

Box points_of(const Box& cells) { return {cells.lo, {cells.hi[0] + 1, cells.hi[1] + 1, cells.hi[2] + 1}}; }

}  // namespace

MarchingCubesCell::MarchingCubesCell(const PointGrid& grid, const Box& cells, const PlaneBuffer& numbers, double value,
                                     bool reverse, bool merge_at_points, Piece& piece)
    : grid_(grid),
      cells_(cells),
      numbers_(numbers),
      value_(value),
      reverse_(reverse),
      merge_at_points_(merge_at_points),
      piece_(piece),
      slots_(points_of(cells)),
      inside_(static_cast<std::size_t>(cells.extent(0) + 1 + stride), 0) {}

void MarchingCubesCell::layer(Index k) {
  slots_.move_to(k);
  for (Index j = cells_.lo[1]; j < cells_.hi[1]; ++j) row(j, k);
}

void MarchingCubesCell::row(Index j, Index k) {
  const Index offset = cells_.lo[0] - numbers_.box().lo[0];
  std::array<const double*, 4> rows;
  bool some_below = false, some_above = false, finite = true;
  for (int n = 0; n < 4; ++n) {  // the order of the low four corners of a cell
    const Index y = j + (n & 1), z = k + (n >> 1);
    const PlaneBuffer::Row& summary = numbers_.summary(y, z);
    rows[n] = numbers_.row(y, z) + offset;
    some_below = some_below || summary.low < value_;
    some_above = some_above || summary.high >= value_;
    finite = finite && summary.finite;
  }
  if (!some_below || !some_above) return;
  classify(rows);
  const Index n = cells_.extent(0);
  for (Index i = 0; i < n;) {
    std::uint64_t eight;
    std::memcpy(&eight, &inside_[static_cast<std::size_t>(i)], sizeof eight);
    const std::uint8_t next = inside_[static_cast<std::size_t>(i + stride)];
    if ((eight == 0 && next == 0) || (eight == 0x0f0f0f0f0f0f0f0full && next == 0x0f)) {
      i += stride;
      continue;
    }
    for (const Index end = std::min(n, i + stride); i < end; ++i) {
      const int inside = inside_[static_cast<std::size_t>(i)] | inside_[static_cast<std::size_t>(i + 1)] << 4;
      if (inside == 0 || inside == 255) continue;
      const Index3 p{cells_.lo[0] + i, j, k};
      if (finite || corners_finite(p)) cell(p, inside);
    }
  }
}

void MarchingCubesCell::classify(const std::array<const double*, 4>& rows) {
  const Index n = cells_.extent(0) + 1;
  const double *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
  const double value = value_;
  std::uint8_t* out = inside_.data();
  for (Index i = 0; i < n; ++i) {
    out[i] =
        static_cast<std::uint8_t>((a[i] >= value) | (b[i] >= value) << 1 | (c[i] >= value) << 2 | (d[i] >= value) << 3);
  }
  // The last point is repeated beyond the row, so that the row's end can be skipped like the rest.
  std::fill_n(out + n, stride, out[n - 1]);
}

bool MarchingCubesCell::corners_finite(const Index3& p) const {
  for (int corner = 0; corner < 8; ++corner) {
    const auto [dx, dy, dz] = corner_offset(corner);
    if (!std::isfinite(numbers_.at({p[0] + dx, p[1] + dy, p[2] + dz}))) return false;
  }
  return true;
}

void MarchingCubesCell::cell(const Index3& p, int inside) {
  const CellCase& what = case_table.cases[inside];
  const std::int64_t number = grid_.number(p);
  for (int n = 0; n < what.count; ++n) {
    std::array<std::int64_t, 3> triangle;
    for (int v = 0; v < 3; ++v) {
      const CellEdge edge = case_table.edges[what.triangles[n][v]];
      const auto [dx, dy, dz] = corner_offset(edge.corner);
      triangle[v] = vertex({p[0] + dx, p[1] + dy, p[2] + dz}, edge.axis);
    }
    if (triangle[0] == triangle[1] || triangle[1] == triangle[2] || triangle[2] == triangle[0]) continue;
    if (reverse_) std::swap(triangle[1], triangle[2]);
    piece_.triangles.push_back(triangle);
    piece_.cells.push_back(number);
  }
}

Index MarchingCubesCell::vertex(const Index3& p, int axis) {
  Index& slot = slots_.at(p, axis);
  if (slot >= 0) return slot;
  const CrossedEdge edge{p, axis, 0};
  const double t = crossing(numbers_.at(p), numbers_.at(edge.upper()), value_);
  if (merge_at_points_ && (t == 0 || t == 1)) {
    const Index3 named = t == 0 ? p : edge.upper();
    Index& shared = slots_.at(named, 3);
    if (shared < 0) shared = add({p, axis, t}, named, 3);
    return slot = shared;
  }
  return slot = add({p, axis, t}, p, axis);
}

Index MarchingCubesCell::add(const CrossedEdge& edge, const Index3& named, int kind) {
  if (!grid_.curved()) {
    std::array<double, 3> at = grid_.position(edge.point);
    at[edge.axis] = mix(at[edge.axis], grid_.position(edge.axis, edge.point[edge.axis] + 1), edge.t);
    piece_.points.push_back(at);
  }
  piece_.keys.push_back(4 * grid_.number(named) + kind);
  fresh_.push_back(edge);
  return static_cast<Index>(piece_.keys.size()) - 1;
}

namespace {

/// Uses four lanes, so that the compiler can use vector instructions without being allowed to reorder.
PlaneBuffer::Row summarise(const double* row, Index n) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double low[4] = {infinity, infinity, infinity, infinity}, high[4] = {-infinity, -infinity, -infinity, -infinity};
  double poison[4] = {0, 0, 0, 0};  // stays 0 while everything is finite
  const auto take = [&](int lane, double v) {
    low[lane] = v < low[lane] ? v : low[lane];
    high[lane] = v > high[lane] ? v : high[lane];
    poison[lane] += v * 0.0;
  };
  Index i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int lane = 0; lane < 4; ++lane) take(lane, row[i + lane]);
  }
  for (; i < n; ++i) take(0, row[i]);
  return {std::min({low[0], low[1], low[2], low[3]}), std::max({high[0], high[1], high[2], high[3]}),
          poison[0] + poison[1] + poison[2] + poison[3] == 0};
}

}  // namespace

void PlaneBuffer::move_to(const Box& box) {
  const bool same_rows =
      box.lo[0] == box_.lo[0] && box.hi[0] == box_.hi[0] && box.lo[1] == box_.lo[1] && box.hi[1] == box_.hi[1];
  const Index kept_from = std::max(box.lo[2], box_.lo[2]), kept_to = std::min(box.hi[2], box_.hi[2]);
  const bool keep = same_rows && kept_from == box.lo[2] && kept_to > kept_from;
  const Index plane = box.extent(0) * box.extent(1);
  const Index skip = keep ? kept_from - box_.lo[2] : 0, kept = keep ? kept_to - kept_from : 0;
  std::copy_n(values_.begin() + skip * plane, kept * plane, values_.begin());
  std::copy_n(rows_.begin() + skip * box.extent(1), kept * box.extent(1), rows_.begin());
  box_ = box;
  values_.resize(static_cast<std::size_t>(std::max<Index>(box.count(), static_cast<Index>(values_.size()))));
  rows_.resize(std::max(rows_.size(), static_cast<std::size_t>(box.extent(1) * box.extent(2))));

  Box fresh = box;
  fresh.lo[2] += kept;
  if (fresh.empty()) return;
  source_.fill(fresh, values_.data() + kept * plane);
  for (Index n = kept * box.extent(1); n < box.extent(1) * box.extent(2); ++n) {
    rows_[static_cast<std::size_t>(n)] = summarise(values_.data() + n * box.extent(0), box.extent(0));
  }
}

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
