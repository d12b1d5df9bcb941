// Values of a box of an array: copied, erased, or passed on in a file's order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "sidestream/data/array.hpp"

namespace sidestream {

/// Copies all components of the values of `box`, which lies in both arrays. Both arrays have the same type and number
/// of components; the memory of `to` must be writable.
void copy_box(const ArrayView& from, const ArrayView& to, const Box& box);

/// Marks the values of `box`, which lies in the array, as missing: a quiet NaN, or 0 for integers.
void erase_box(const ArrayView& array, const Box& box);

/// Returns the extents (i, j, k) of the largest contiguous part of `box` in `order` that has at most `limit` bytes:
/// whole layers, whole lines, or a part of one line, at least one point. `point_bytes`: bytes of a point.
[[nodiscard]] Index3 slab_extents(const Box& box, std::uint64_t point_bytes, std::uint64_t limit, Order order) noexcept;

/// True if the values of `region` are contiguous in `order` in the array's memory.
[[nodiscard]] bool is_gapless(const ArrayView& array, const Box& region, Order order) noexcept;

/// Calls f(bytes, part) for parts of `region` that together, in sequence, form the contiguous array over it in `order`.
/// Contiguous memory is passed in one call without a copy; otherwise parts of at most `limit` bytes are copied. An
/// empty region causes no call.
void for_each_slab(const ArrayView& array, const Box& region, Order order, std::uint64_t limit,
                   const std::function<void(std::span<const std::byte>, const Box&)>& f);

}  // namespace sidestream
