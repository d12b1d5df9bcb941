#include "visualisation/contour/marching_cubes_cell.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

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

}  // namespace sidestream
