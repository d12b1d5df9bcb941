#include "storage/files/slabs.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace sidestream {

namespace {

/// The axes from the fastest to the slowest.
std::array<int, 3> axes_of(Order order) noexcept {
  return order == Order::column ? std::array{0, 1, 2} : std::array{2, 1, 0};
}

}  // namespace

Index3 slab_extents(const Box& box, std::uint64_t point_bytes, std::uint64_t limit, Order order) noexcept {
  Index3 extents{1, 1, 1};
  auto room = static_cast<Index>(std::max<std::uint64_t>(1, limit / std::max<std::uint64_t>(1, point_bytes)));
  for (const int axis : axes_of(order)) {
    extents[axis] = std::clamp<Index>(room, 1, std::max<Index>(1, box.extent(axis)));
    // Only whole lines and layers may be stacked.
    room = extents[axis] == box.extent(axis) ? room / extents[axis] : 1;
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
