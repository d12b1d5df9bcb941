#include "data/copy_box.hpp"

#include <cstring>
#include <limits>

namespace sidestream {

namespace {

/// The axis that runs fastest in memory, 0 or 2.
int fast_axis(const ArrayView& array) { return array.strides[0] <= array.strides[2] ? 0 : 2; }

/// Calls f(i, j, k) for the beginning of each row of the box along the axis `fast`.
template <class F>
void for_each_row(const Box& box, int fast, F&& f) {
  const auto slow = static_cast<std::size_t>(2 - fast);
  Index3 at = box.lo;
  for (at[slow] = box.lo[slow]; at[slow] < box.hi[slow]; ++at[slow]) {
    for (at[1] = box.lo[1]; at[1] < box.hi[1]; ++at[1]) f(at[0], at[1], at[2]);
  }
}

template <class T>
void copy_values(const ArrayView& from, const ArrayView& to, const Box& box) {
  const int fast = fast_axis(to);
  const auto axis = static_cast<std::size_t>(fast);
  const Index n = box.extent(fast), components = to.components;
  const auto gapless = [&](const ArrayView& array) {
    return array.strides[axis] == components && (components == 1 || array.strides[3] == 1);
  };
  const bool whole_rows = gapless(from) && gapless(to);
  for_each_row(box, fast, [&](Index i, Index j, Index k) {
    const T* source = from.at<T>(i, j, k);
    T* target = const_cast<T*>(to.at<T>(i, j, k));
    if (whole_rows) {
      std::memcpy(target, source, static_cast<std::size_t>(n * components) * sizeof(T));
      return;
    }
    for (Index a = 0; a < n; ++a) {
      for (Index c = 0; c < components; ++c) {
        target[a * to.strides[axis] + c * to.strides[3]] = source[a * from.strides[axis] + c * from.strides[3]];
      }
    }
  });
}

}  // namespace

void copy_box(const ArrayView& from, const ArrayView& to, const Box& box) {
  if (box.empty()) return;
  with_type(to.type, [&](auto zero) { copy_values<decltype(zero)>(from, to, box); });
}

void erase_box(const ArrayView& array, const Box& box) {
  if (box.empty()) return;
  const int fast = fast_axis(array);
  const Index n = box.extent(fast), stride = array.strides[static_cast<std::size_t>(fast)];
  with_type(array.type, [&](auto zero) {
    using T = decltype(zero);
    const T mark = std::numeric_limits<T>::has_quiet_NaN ? std::numeric_limits<T>::quiet_NaN() : T{};
    for_each_row(box, fast, [&](Index i, Index j, Index k) {
      T* target = const_cast<T*>(array.at<T>(i, j, k));
      for (Index a = 0; a < n; ++a) {
        for (Index c = 0; c < array.components; ++c) target[a * stride + c * array.strides[3]] = mark;
      }
    });
  });
}

}  // namespace sidestream
