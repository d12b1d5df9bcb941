// Normals on the points of one row of a contour: the negative gradient, by central differences at the two ends of an
// edge, interpolated to the point.
//
// At the box's border, and next to values that are not finite, differences are one-sided. Without a gradient the normal
// points along the edge to the lower value.
// NumberPlanes provides the values: directly from the array if they are contiguous and complete, otherwise copies of a
// few planes at a time, with NaN where no block has values.
#include "visualisation/contour/row_normals.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "visualisation/contour/crossed_edge.hpp"

namespace sidestream {

namespace {

std::array<double, 3> between(const std::array<double, 3>& a, const std::array<double, 3>& b, double t) {
  const std::array<double, 3> there = mix(a, b, t);
  return {-there[0], -there[1], -there[2]};
}

}  // namespace

/// The rows for the slopes at the points of one row; at the box's rim the row itself replaces its neighbour.
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
    const auto difference = [](T a, T b) { return static_cast<double>(a) - static_cast<double>(b); };
    const double rises[3] = {difference(at.here[above], at.here[below]), difference(at.j_above[i], at.j_below[i]),
                             difference(at.k_above[i], at.k_below[i])};
    if (std::isfinite((rises[0] + rises[1]) + rises[2])) {
      return {rises[0] * inverse_[0][static_cast<std::size_t>(i)],
              rises[1] * inverse_[1][static_cast<std::size_t>(at.j - box_.lo[1])],
              rises[2] * inverse_[2][static_cast<std::size_t>(at.k - box_.lo[2])]};
    }
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
    // A field without slope here (a ridge, for example) still falls along the edge itself.
    out[n] = {0, 0, 0};
    out[n][static_cast<std::size_t>(axis)] = up.here[upper] < here.here[i] ? 1 : -1;
  }
}

template void RowNormals::normals(const NumberPlanes<float>&, const PointRow&, std::array<double, 3>*) const;
template void RowNormals::normals(const NumberPlanes<double>&, const PointRow&, std::array<double, 3>*) const;

namespace {

/// True if two views show the same array.
bool same(const ArrayView& a, const ArrayView& b) {
  return a.data == b.data && a.box == b.box && a.strides == b.strides && a.type == b.type;
}

template <class T>
bool has_type(const ArrayView& array) {
  return array.type == (std::is_same_v<T, float> ? Type::float32 : Type::float64);
}

}  // namespace

template <class T>
NumberPlanes<T>::NumberPlanes(const BlockView& view, int component, const Box& box)
    : view_(view),
      component_(component),
      box_(box),
      plane_(box.extent(0) * box.extent(1)),
      together_(std::abs(view.array.strides[2]) < std::abs(view.array.strides[0]) ? 8 : 1),
      kept_(together_ + 4),
      loaded_(box.lo[2]) {
  Index there = 0;
  for (const Box& owned : view.owned) there += intersection(owned, box).count();
  for (const HaloPiece& piece : view.halo) {
    if (same(piece.array, view.array)) there += intersection(piece.box, box).count();
  }
  if (there == box.count() && has_type<T>(view.array) && view.array.strides[0] == 1) {
    direct_ = view.array.at<T>(box.lo[0], box.lo[1], box.lo[2], component);
    step_[0] = view.array.strides[1];
    step_[1] = view.array.strides[2];
  }
}

template <class T>
void NumberPlanes<T>::load(Index k) {
  if (direct_ != nullptr) return;
  values_.resize(static_cast<std::size_t>(plane_ * kept_));
  if (std::max(k - 3, box_.lo[2]) < loaded_ - kept_) loaded_ = box_.lo[2];  // starts again
  while (loaded_ <= k) {
    Box planes = box_;
    planes.lo[2] = loaded_;
    planes.hi[2] = loaded_ = std::min(loaded_ + together_, box_.hi[2]);
    Index filled = 0;
    for (const Box& owned : view_.owned) filled += intersection(owned, planes).count();
    for (const HaloPiece& piece : view_.halo) filled += intersection(piece.box, planes).count();
    for (Index n = planes.lo[2]; n < planes.hi[2] && filled < planes.count(); ++n) {
      std::fill_n(values_.begin() + slot(n) * plane_, plane_, std::numeric_limits<T>::quiet_NaN());
    }
    for (const Box& owned : view_.owned) copy(view_.array, intersection(owned, planes));
    for (const HaloPiece& piece : view_.halo) copy(piece.array, intersection(piece.box, planes));
  }
}

template <class T>
void NumberPlanes<T>::copy(const ArrayView& array, const Box& part) {
  if (part.empty()) return;
  with_type(array.type, [&](auto zero) {
    using From = decltype(zero);
    const Index count = part.extent(0), step = array.strides[0], up = array.strides[2];
    for (Index j = part.lo[1]; j < part.hi[1]; ++j) {
      const From* from = array.at<From>(part.lo[0], j, part.lo[2], component_);
      const Index row = (j - box_.lo[1]) * box_.extent(0) + (part.lo[0] - box_.lo[0]);
      if (together_ == 1) {
        T* to = values_.data() + slot(part.lo[2]) * plane_ + row;
        for (Index i = 0; i < count; ++i) to[i] = static_cast<T>(from[i * step]);
        continue;
      }
      for (Index i = 0; i < count; ++i) {
        for (Index k = part.lo[2]; k < part.hi[2]; ++k) {
          values_[static_cast<std::size_t>(slot(k) * plane_ + row + i)] =
              static_cast<T>(from[i * step + (k - part.lo[2]) * up]);
        }
      }
    }
  });
}

template class NumberPlanes<float>;
template class NumberPlanes<double>;

}  // namespace sidestream
