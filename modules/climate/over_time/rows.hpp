// The values of a block as doubles, in the order of a contiguous array.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include "sidestream/data/array.hpp"
#include "sidestream/data/type.hpp"

namespace sidestream::over_time {

/// Values that are taken at a time: they stay in the first cache while several kernels pass over them.
inline constexpr std::size_t values_at_a_time = 1024;

/// Calls f(number of the first value, values) for short runs of all values of `points`, in the order of a contiguous
/// array over `points` in `order`. Reals of 64 bits are not copied where they lie next to each other.
template <class F>
void for_each_row(const ArrayView& array, const Box& points, Order order, F&& f) {
  const int fast = order == Order::column ? 0 : 2, slow = 2 - fast;
  const Index components = array.components;
  const bool together =
      array.strides[static_cast<std::size_t>(fast)] == components && (components == 1 || array.strides[3] == 1);
  const auto packed = packed_strides(points, array.components, order);
  const auto follows = [&](int axis) {
    const auto a = static_cast<std::size_t>(axis);
    return points.extent(axis) == 1 || array.strides[a] == packed[a];
  };
  const bool dense = together && follows(1) && follows(slow);
  const Index rows = dense ? 1 : points.extent(1), layers = dense ? 1 : points.extent(slow);
  const auto length = static_cast<std::size_t>((dense ? points.count() : points.extent(fast)) * components);
  with_type(array.type, [&](auto zero) {
    using T = decltype(zero);
    std::array<double, values_at_a_time> buffer;
    const auto some_values = [&](const T* from, std::size_t n, std::size_t some) -> std::span<const double> {
      if constexpr (std::is_same_v<T, double>) {
        if (together) return {from + n, some};
      }
      for (std::size_t i = 0; i < some; ++i) {
        const auto v = static_cast<Index>(n + i);
        const Index apart = v / components * array.strides[static_cast<std::size_t>(fast)];
        buffer[i] = static_cast<double>(from[together ? v : apart + v % components * array.strides[3]]);
      }
      return {buffer.data(), some};
    };
    for (Index row = 0; row < rows * layers; ++row) {
      Index3 at = points.lo;
      at[1] += row % rows;
      at[static_cast<std::size_t>(slow)] += row / rows;
      const T* const from = array.at<T>(at[0], at[1], at[2]);
      const std::size_t before = static_cast<std::size_t>(row) * length;
      for (std::size_t n = 0; n < length; n += values_at_a_time) {
        f(before + n, some_values(from, n, std::min(values_at_a_time, length - n)));
      }
    }
  });
}

}  // namespace sidestream::over_time
