#include "visualisation/contour/number_planes.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <type_traits>

namespace sidestream {
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
