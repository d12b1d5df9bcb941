// Vertices on curvilinear grids. The position of a vertex is interpolated between the points at both ends of its edge.
// Its normal is the interpolated gradient: central differences of the number and of the positions along the three grid
// lines give three equations, solved with cross products. A cell is left-handed if the triple product of its edges is
// negative.
#include "visualisation/contour/curvilinear_vertices.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "visualisation/contour/crossed_edge.hpp"
#include "visualisation/contour/curved_points.hpp"
#include "visualisation/contour/row_normals.hpp"

namespace sidestream {
namespace {

using Place = std::array<double, 3>;
using curved::cross;
using curved::dot;

Place minus(const Place& a, const Place& b) noexcept { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

/// The gradient of a number that rises by `rise` over the vectors `along`; `ok` is set if it is finite.
[[gnu::always_inline]] inline Place slope_of(const Place along[3], const double rise[3], bool& ok) noexcept {
  const Place uv = cross(along[0], along[1]), vw = cross(along[1], along[2]), wu = cross(along[2], along[0]);
  const double volume = dot(along[0], vw), inverse = 1 / volume;
  // Finite only if all inputs are.
  ok = std::isfinite(volume + inverse + ((rise[0] + rise[1]) + rise[2]));
  return {(rise[0] * vw[0] + (rise[1] * wu[0] + rise[2] * uv[0])) * inverse,
          (rise[0] * vw[1] + (rise[1] * wu[1] + rise[2] * uv[1])) * inverse,
          (rise[0] * vw[2] + (rise[1] * wu[2] + rise[2] * uv[2])) * inverse};
}

/// `interleaved` rows save arithmetic with strides.
template <class T, class Rows, bool interleaved>
class RowsFlight final : public CurvedFlight<T> {
 public:
  RowsFlight(Rows rows, const Box& box, bool normals) : box_(box), rows_(std::move(rows)), ahead_(normals ? 2 : 1) {}

  void announce(const Index3& first, std::span<const std::int32_t> cells) const noexcept override {
    for (Index k = first[2] - 1; k <= first[2] + ahead_; ++k) {
      Row there = rows_.in_place(first[1] + ahead_, k);
      if (there == nullptr) continue;
      there += (first[0] - box_.lo[0]) * step();
      for (const std::int32_t n : cells) __builtin_prefetch(there + n * step());
    }
  }

  bool place(const PointRow& row, Place* out) override {
    const Index j = row.first[1], k = row.first[2];
    const Row here = start(row.first);
    const Row ends[3] = {here + step(), next_to(here, row.first, 1, j + 1), next_to(here, row.first, 2, k + 1)};
    double poison = 0;  // stays 0 while everything is finite
    for (std::size_t n = 0; n < row.at.size(); ++n) {
      const Index i = row.at[n];
      const Place place = mix(at(here, i), at(ends[row.axis[n]], i), row.t[n]);
      poison += (place[0] + place[1] + place[2]) * 0;
      out[n] = place;
    }
    return poison == 0;
  }

  void normals(const NumberPlanes<T>& numbers, const PointRow& row, Place* out) override {
    const Index3 first = row.first, over_j{first[0], first[1] + 1, first[2]}, over_k{first[0], first[1], first[2] + 1};
    const Stencil here = stencil(numbers, first);
    const Stencil over[2] = {first[1] + 1 < box_.hi[1] ? stencil(numbers, over_j) : here,
                             first[2] + 1 < box_.hi[2] ? stencil(numbers, over_k) : here};
    Index known = -1;
    Place start{};
    for (std::size_t n = 0; n < row.at.size(); ++n) {
      const Index i = row.at[n];
      const int axis = row.axis[n];
      if (i != known) start = slope(here, known = i);
      const Stencil& up = axis == 0 ? here : over[axis - 1];
      const Index upper = axis == 0 ? i + 1 : i;
      const Place end = slope(up, upper);
      const double t = row.t[n];
      const Place slope_there = mix(start, end, t);
      out[n] = {-slope_there[0], -slope_there[1], -slope_there[2]};
      if (normalise(out[n])) continue;
      // A field without slope here (a ridge, for example) still falls along the edge itself.
      const double sign = up.number[0][upper] < here.number[0][i] ? 1 : -1;
      const Place edge = minus(at(up.place[0], upper), at(here.place[0], i));
      out[n] = {sign * edge[0], sign * edge[1], sign * edge[2]};
      if (!normalise(out[n])) out[n] = {0, 0, sign};
    }
  }

  bool mirrored(const Index3& first, std::span<const std::int32_t> cells, std::uint8_t* out) override {
    const Index j = first[1], k = first[2];
    const Row here = start(first), over_j = start({first[0], j + 1, k}), over_k = start({first[0], j, k + 1});
    std::uint8_t any = 0;
    for (std::size_t n = 0; n < cells.size(); ++n) {
      const Index i = cells[n];
      const Place o = at(here, i), u = minus(at(here, i + 1), o), v = minus(at(over_j, i), o),
                  w = minus(at(over_k, i), o);
      double volume = dot(u, cross(v, w));
      if (!(volume < 0 || volume > 0)) volume = whole_volume({first[0] + i, j, k});
      out[n] = volume < 0 ? 1 : 0;
      any |= out[n];
    }
    return any != 0;
  }

 private:
  using Row = const typename Rows::Number*;

  [[nodiscard]] Index step() const noexcept { return interleaved ? 3 : rows_.step(); }
  [[nodiscard]] Place at(Row row, Index n) const noexcept {
    const Index next = interleaved ? 1 : rows_.next();
    const Row x = row + n * step();
    return {static_cast<double>(x[0]), static_cast<double>(x[next]), static_cast<double>(x[2 * next])};
  }

  [[nodiscard]] Row start(const Index3& p) { return rows_.row(p[1], p[2]) + (p[0] - box_.lo[0]) * step(); }
  /// The row at `index` of an axis, or `here` beyond the box.
  [[nodiscard]] Row next_to(const Row& here, Index3 p, int axis, Index index) {
    if (index < box_.lo[axis] || index >= box_.hi[axis]) return here;
    p[axis] = index;
    return start(p);
  }

  /// A row of points and its neighbours: itself, below and above along j, below and above along k. Beyond the box the
  /// row itself replaces its neighbour.
  struct Stencil {
    const T* number[5];
    Row place[5];
    Index first, last;  ///< along the row
  };
  [[nodiscard]] Stencil stencil(const NumberPlanes<T>& numbers, const Index3& p) {
    const Row here = start(p);
    const Index shift = p[0] - box_.lo[0], j = p[1], k = p[2];
    const auto number = [&](Index y, Index z) {
      return numbers.row(std::clamp(y, box_.lo[1], box_.hi[1] - 1), std::clamp(z, box_.lo[2], box_.hi[2] - 1)) + shift;
    };
    return {{number(j, k), number(j - 1, k), number(j + 1, k), number(j, k - 1), number(j, k + 1)},
            {here, next_to(here, p, 1, j - 1), next_to(here, p, 1, j + 1), next_to(here, p, 2, k - 1),
             next_to(here, p, 2, k + 1)},
            -shift,
            box_.extent(0) - 1 - shift};
  }

  [[nodiscard]] Place slope(const Stencil& rows, Index i) const noexcept {
    const Index below = i > rows.first ? i - 1 : i, above = i < rows.last ? i + 1 : i;
    const Place along[3] = {minus(at(rows.place[0], above), at(rows.place[0], below)),
                            minus(at(rows.place[2], i), at(rows.place[1], i)),
                            minus(at(rows.place[4], i), at(rows.place[3], i))};
    const auto difference = [](T a, T b) { return static_cast<double>(a) - static_cast<double>(b); };
    const double rise[3] = {difference(rows.number[0][above], rows.number[0][below]),
                            difference(rows.number[2][i], rows.number[1][i]),
                            difference(rows.number[4][i], rows.number[3][i])};
    bool ok = false;
    const Place slope = slope_of(along, rise, ok);
    return ok ? slope : one_sided_slope(rows, i);
  }

  /// Slope with one-sided differences: where a neighbour has no value or no position the point itself replaces it.
  [[nodiscard]] Place one_sided_slope(const Stencil& rows, Index i) const noexcept {
    Place along[3];
    double rise[3];
    for (int a = 0; a < 3; ++a) {
      Place x[2];
      double f[2];
      for (int side = 0; side < 2; ++side) {
        const int row = a == 0 ? 0 : 2 * a - 1 + side;
        const Index n = a != 0 ? i : side == 0 ? std::max(i - 1, rows.first) : std::min(i + 1, rows.last);
        x[side] = at(rows.place[row], n);
        f[side] = static_cast<double>(rows.number[row][n]);
        if (std::isfinite(f[side]) && std::isfinite(x[side][0])) continue;
        x[side] = at(rows.place[0], i);
        f[side] = static_cast<double>(rows.number[0][i]);
      }
      rise[a] = f[1] - f[0];
      along[a] = minus(x[1], x[0]);
    }
    bool ok = false;
    const Place slope = slope_of(along, rise, ok);
    return ok ? slope : Place{0, 0, 0};
  }

  /// Volume of a cell that is degenerate at its lowest corner, from the sums of its edges along each axis.
  [[nodiscard]] double whole_volume(const Index3& cell) {
    Place spans[3] = {};
    for (int corner = 0; corner < 8; ++corner) {
      const Place x = at(start({cell[0], cell[1] + (corner >> 1 & 1), cell[2] + (corner >> 2)}), corner & 1);
      for (int a = 0; a < 3; ++a) {
        const double sign = corner >> a & 1 ? 1 : -1;
        for (std::size_t d = 0; d < 3; ++d) spans[a][d] += sign * x[d];
      }
    }
    return dot(spans[0], cross(spans[1], spans[2]));
  }

  const Box box_;
  Rows rows_;
  const Index ahead_;  ///< number of planes
};

template <class T, class Rows>
std::unique_ptr<CurvedFlight<T>> make(Rows rows, const Box& box, bool normals) {
  if (rows.interleaved()) return std::make_unique<RowsFlight<T, Rows, true>>(std::move(rows), box, normals);
  return std::make_unique<RowsFlight<T, Rows, false>>(std::move(rows), box, normals);
}

template <class T, class C>
std::unique_ptr<CurvedFlight<T>> make(const CurvedPoints& points, const Box& box, bool normals) {
  if (points.at_nodes()) return make<T>(NodeRows<C>(points.coordinates(), box), box, normals);
  using Rows = MiddleRows<C>;
  return std::make_unique<RowsFlight<T, Rows, true>>(Rows(points.coordinates(), box), box, normals);
}

}  // namespace

template <class T>
std::unique_ptr<CurvedFlight<T>> curved_flight(const CurvedPoints& points, const Box& box, bool normals) {
  const BlockView* coordinates = points.coordinates();
  const bool narrow = coordinates != nullptr && coordinates->array.type == Type::float32;
  return narrow ? make<T, float>(points, box, normals) : make<T, double>(points, box, normals);
}

template std::unique_ptr<CurvedFlight<float>> curved_flight(const CurvedPoints&, const Box&, bool);
template std::unique_ptr<CurvedFlight<double>> curved_flight(const CurvedPoints&, const Box&, bool);

}  // namespace sidestream
