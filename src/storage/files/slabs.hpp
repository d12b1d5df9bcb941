// Walking through the values of a block in the order of the file, with little memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "sidestream/data/array.hpp"

namespace sidestream {

/// The extents (i, j, k) of the largest part of `box` that is a run of whole lines, whole layers, or a part
/// of one line in `order`, of at most `limit` bytes (at least one point) with `point_bytes` bytes a point.
[[nodiscard]] Index3 slab_extents(const Box& box, std::uint64_t point_bytes, std::uint64_t limit, Order order) noexcept;

/// Whether the values of `region` lie without gaps in `order` in the array's memory.
[[nodiscard]] bool is_gapless(const ArrayView& array, const Box& region, Order order) noexcept;

/// Calls f(bytes, part) for parts of `region` which, one after the other, make up the gapless array over it
/// in `order`. Where the memory is gapless that is one call with the array's own memory; elsewhere parts of
/// at most `limit` bytes are copied together. An empty region means no call.
void for_each_slab(const ArrayView& array, const Box& region, Order order, std::uint64_t limit,
                   const std::function<void(std::span<const std::byte>, const Box&)>& f);

}  // namespace sidestream
