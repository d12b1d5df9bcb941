#include "sidestream/kit/data/box_values.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

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

namespace {

/// The axes from the fastest to the slowest.
std::array<int, 3> axes_of(Order order) noexcept {
  return order == Order::column ? std::array{0, 1, 2} : std::array{2, 1, 0};
}

}  // namespace

Index3 slab_extents(const Box& box, std::uint64_t point_bytes, std::uint64_t limit, Order order) noexcept {
  Index3 extents{1, 1, 1};
  auto points_left = static_cast<Index>(std::max<std::uint64_t>(1, limit / std::max<std::uint64_t>(1, point_bytes)));
  for (const int axis : axes_of(order)) {
    extents[axis] = std::clamp<Index>(points_left, 1, std::max<Index>(1, box.extent(axis)));
    // Only whole lines and layers may be stacked.
    points_left = extents[axis] == box.extent(axis) ? points_left / extents[axis] : 1;
  }
  return extents;
}

bool is_gapless(const ArrayView& array, const Box& region, Order order) noexcept {
  if (array.components > 1 && array.strides[3] != 1) return false;
  Index expected = array.components;
  for (const int axis : axes_of(order)) {
    // The stride along an axis of extent 1 is never used.
    if (region.extent(axis) > 1 && array.strides[axis] != expected) return false;
    expected *= region.extent(axis);
  }
  return true;
}

void for_each_slab(const ArrayView& array, const Box& region, Order order, std::uint64_t limit,
                   const std::function<void(std::span<const std::byte>, const Box&)>& f) {
  if (region.empty()) return;
  if (is_gapless(array, region, order)) {
    Index offset = 0;
    for (int axis = 0; axis < 3; ++axis) offset += (region.lo[axis] - array.box.lo[axis]) * array.strides[axis];
    const auto* first = static_cast<const std::byte*>(array.data) + offset * static_cast<Index>(size_of(array.type));
    return f({first, packed_bytes(region, array.components, array.type)}, region);
  }
  const std::uint64_t point_bytes = size_of(array.type) * static_cast<std::uint64_t>(array.components);
  const Index3 step = slab_extents(region, point_bytes, limit, order);
  const auto [fast, middle, slow] = axes_of(order);
  std::vector<std::byte> copy;
  Box part;
  const auto cut = [&](int axis, Index from) {
    part.lo[axis] = from;
    part.hi[axis] = std::min(from + step[axis], region.hi[axis]);
  };
  for (Index c = region.lo[slow]; c < region.hi[slow]; c += step[slow]) {
    cut(slow, c);
    for (Index b = region.lo[middle]; b < region.hi[middle]; b += step[middle]) {
      cut(middle, b);
      for (Index a = region.lo[fast]; a < region.hi[fast]; a += step[fast]) {
        cut(fast, a);
        copy.resize(packed_bytes(part, array.components, array.type));
        pack(array, part, order, copy);
        f(copy, part);
      }
    }
  }
}

}  // namespace sidestream
