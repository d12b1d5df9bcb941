#include "analysis/row_normals.hpp"

#include <algorithm>

#include "analysis/crossed_edge.hpp"

namespace sidestream {
namespace {

/// Makes `n` one long; false if it has no direction.
bool normalise(std::array<double, 3>& n) {
  const double length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  if (!(length > 0) || !std::isfinite(length)) return false;
  const double inverse = 1 / length;
  if (!std::isfinite(inverse)) {
    n = {n[0] / length, n[1] / length, n[2] / length};
  } else {
    n = {n[0] * inverse, n[1] * inverse, n[2] * inverse};
  }
  return true;
}

std::array<double, 3> between(const std::array<double, 3>& a, const std::array<double, 3>& b, double t) {
  return {-mix(a[0], b[0], t), -mix(a[1], b[1], t), -mix(a[2], b[2], t)};
}

}  // namespace

/// The rows that the slopes at the points of one row need; at the box's rim the row itself stands for its neighbour.
template <class T>
struct RowNormals::Stencil {
  const T* here;
  const T *j_below, *j_above, *k_below, *k_above;
  Index j, k;
};

RowNormals::RowNormals(const PointGrid& grid, const Box& box) : grid_(grid), box_(box) {
  for (int a = 0; a < 3; ++a) {
    for (Index i = box.lo[a]; i < box.hi[a]; ++i) {
      inverse_[a].push_back(inverse_step(a, std::max(i - 1, box.lo[a]), std::min(i + 1, box.hi[a] - 1)));
    }
  }
}

double RowNormals::inverse_step(int axis, Index lower, Index upper) const noexcept {
  const double step = grid_.position(axis, upper) - grid_.position(axis, lower);
  return step == 0 ? 0 : 1 / step;
}

template <class T>
RowNormals::Stencil<T> RowNormals::stencil(const NumberPlanes<T>& numbers, Index j, Index k) const noexcept {
  return {numbers.row(j, k),
          numbers.row(std::max(j - 1, box_.lo[1]), k),
          numbers.row(std::min(j + 1, box_.hi[1] - 1), k),
          numbers.row(j, std::max(k - 1, box_.lo[2])),
          numbers.row(j, std::min(k + 1, box_.hi[2] - 1)),
          j,
          k};
}

template <class T>
double RowNormals::slope(int axis, Index at, T below, T here, T above) const noexcept {
  const double rise = static_cast<double>(above) - static_cast<double>(below);
  if (std::isfinite(rise)) return rise * inverse_[axis][static_cast<std::size_t>(at - box_.lo[axis])];
  const bool down = std::isfinite(below) && at > box_.lo[axis], up = std::isfinite(above) && at + 1 < box_.hi[axis];
  const double low = static_cast<double>(down ? below : here), high = static_cast<double>(up ? above : here);
  return (high - low) * inverse_step(axis, down ? at - 1 : at, up ? at + 1 : at);
}

template <class T>
void RowNormals::normals(const NumberPlanes<T>& numbers, const PointRow& row, std::array<double, 3>* out) const {
  const Index j = row.first[1], k = row.first[2], shift = row.first[0] - box_.lo[0], last = box_.extent(0) - 1;
  const Stencil<T> here = stencil(numbers, j, k);
  const Stencil<T> over[2] = {stencil(numbers, std::min(j + 1, box_.hi[1] - 1), k),
                              stencil(numbers, j, std::min(k + 1, box_.hi[2] - 1))};
  const auto slopes = [&](const Stencil<T>& at, Index i) -> std::array<double, 3> {
    const Index below = i > 0 ? i - 1 : i, above = i < last ? i + 1 : i;
    return {slope(0, box_.lo[0] + i, at.here[below], at.here[i], at.here[above]),
            slope(1, at.j, at.j_below[i], at.here[i], at.j_above[i]),
            slope(2, at.k, at.k_below[i], at.here[i], at.k_above[i])};
  };
  Index known = -1;  // point whose slopes are in `start`
  std::array<double, 3> start{};
  for (std::size_t n = 0; n < row.at.size(); ++n) {
    const Index i = row.at[n] + shift;
    const int axis = row.axis[n];
    if (i != known) start = slopes(here, known = i);
    const Stencil<T>& up = axis == 0 ? here : over[axis - 1];
    const Index upper = axis == 0 ? i + 1 : i;
    out[n] = between(start, slopes(up, upper), row.t[n]);
    if (normalise(out[n])) continue;
    // A field without slope here (a ridge, say) still falls along the edge itself.
    out[n] = {0, 0, 0};
    out[n][static_cast<std::size_t>(axis)] = up.here[upper] < here.here[i] ? 1 : -1;
  }
}

template void RowNormals::normals(const NumberPlanes<float>&, const PointRow&, std::array<double, 3>*) const;
template void RowNormals::normals(const NumberPlanes<double>&, const PointRow&, std::array<double, 3>*) const;

template <class T>
void curved_normals(const CurvedPoints& places, const NumberPlanes<T>& numbers, const PointRow& row,
                    std::array<double, 3>* out) {
  const Box& box = numbers.box();
  const auto number = [&](const Index3& p) { return static_cast<double>(numbers.row(p[1], p[2])[p[0] - box.lo[0]]); };
  Index known = -1;
  std::array<double, 3> start{};
  for (std::size_t n = 0; n < row.at.size(); ++n) {
    const CrossedEdge edge{{row.first[0] + row.at[n], row.first[1], row.first[2]}, row.axis[n], row.t[n]};
    const Index3 upper = edge.upper();
    if (row.at[n] != known) start = curved_slope(places, box, number, edge.point);
    known = row.at[n];
    out[n] = between(start, curved_slope(places, box, number, upper), edge.t);
    if (normalise(out[n])) continue;
    const double sign = number(upper) < number(edge.point) ? 1 : -1;
    const std::array<double, 3> from = places.at(edge.point), to = places.at(upper);
    for (std::size_t d = 0; d < 3; ++d) out[n][d] = sign * (to[d] - from[d]);
    if (!normalise(out[n])) out[n] = {0, 0, sign};
  }
}

template void curved_normals(const CurvedPoints&, const NumberPlanes<float>&, const PointRow&, std::array<double, 3>*);
template void curved_normals(const CurvedPoints&, const NumberPlanes<double>&, const PointRow&, std::array<double, 3>*);

}  // namespace sidestream
