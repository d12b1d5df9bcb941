#include "sidestream/data/range.hpp"

#include <cmath>
#include <type_traits>

#include "sidestream/kit/base/float_environment.hpp"

namespace sidestream {

namespace {

/// Extremes in the array's own type; comparisons are written so that NaN changes nothing.
template <class T>
struct Extremes {
  T low = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  T high =
      std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  bool any = false;

  void add(T value) noexcept {
    low = value < low ? value : low;
    high = value > high ? value : high;
    any |= value == value;
  }
  void add(const Extremes& other) noexcept {
    low = other.low < low ? other.low : low;
    high = other.high > high ? other.high : high;
    any |= other.any;
  }
};

/// Extremes of one row. Uses eight independent chains, because the compiler must not reorder comparisons of reals.
template <class T>
Extremes<T> of_row(const T* at, Index count, Index stride) noexcept {
  Extremes<T> result;
  Index i = 0;
  if (stride == 1) {
    constexpr Index lanes = 8;
    T low[lanes], high[lanes];
    for (Index l = 0; l < lanes; ++l) low[l] = result.low, high[l] = result.high;
    for (; i + lanes <= count; i += lanes) {
      for (Index l = 0; l < lanes; ++l) {
        low[l] = at[i + l] < low[l] ? at[i + l] : low[l];
        high[l] = at[i + l] > high[l] ? at[i + l] : high[l];
      }
    }
    for (Index l = 0; l < lanes; ++l) {
      result.low = low[l] < result.low ? low[l] : result.low;
      result.high = high[l] > result.high ? high[l] : result.high;
    }
    result.any = i > 0 && result.low <= result.high;
  }
  for (; i < count; ++i) result.add(at[i * stride]);
  return result;
}

/// The next double below or above, if a 64-bit integer has no exact double.
template <class T>
double rounded(T value, double towards) noexcept {
  const auto real = static_cast<double>(value);
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    if (std::fabs(real) > 9007199254740992.0) return std::nextafter(real, towards);
  }
  return real;
}

template <class T>
Range to_range(const Extremes<T>& extremes) noexcept {
  if (!extremes.any) return {};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {rounded(extremes.low, -infinity), rounded(extremes.high, infinity)};
}

template <class T>
void measure(const ArrayView& array, const Box& points, int c, BlockRange& result) {
  Extremes<T> all, lowest[8];
  // Rows run along the axis whose neighbouring values are nearest in memory.
  const int fast = array.strides[2] < array.strides[0] ? 2 : 0, slow = 2 - fast;
  Index3 p = points.lo;
  for (p[slow] = points.lo[slow]; p[slow] < points.hi[slow]; ++p[slow]) {
    for (p[1] = points.lo[1]; p[1] < points.hi[1]; ++p[1]) {
      const T* row = array.at<T>(p[0], p[1], p[2], c);
      const Extremes<T> here = of_row(row, points.extent(fast), array.strides[fast]);
      all.add(here);
      const unsigned sides = (p[1] == points.lo[1] ? 2u : 0u) | (p[slow] == points.lo[slow] ? 1u << slow : 0u);
      for (const unsigned mask : {2u, 1u << slow, 2u | 1u << slow}) {
        if ((sides & mask) == mask) lowest[mask].add(here);
      }
      // The row's first point is at the lowest index of the row's own axis as well.
      for (unsigned mask = 1; mask < 8; ++mask) {
        if ((mask >> fast & 1) && ((sides | 1u << fast) & mask) == mask) lowest[mask].add(*row);
      }
    }
  }
  result.all = to_range(all);
  for (std::size_t mask = 1; mask < 8; ++mask) result.lowest[mask - 1] = to_range(lowest[mask]);
}

template <class T>
Range measure_some(const ArrayView& array, int component, std::span<const std::uint8_t> uncounted) {
  Extremes<T> all;
  const Index count = std::min<Index>(array.box.extent(0), static_cast<Index>(uncounted.size()));
  for (Index i = 0; i < count; ++i) {
    if (uncounted[static_cast<std::size_t>(i)] == 0) all.add(*array.at<T>(array.box.lo[0] + i, 0, 0, component));
  }
  return to_range(all);
}

}  // namespace

Range measure_counted(const ArrayView& array, int component, std::span<const std::uint8_t> uncounted) {
  const FloatEnvironment environment;
  Range range;
  with_type(array.type, [&](auto zero) { range = measure_some<decltype(zero)>(array, component, uncounted); });
  return range;
}

void measure_range(const ArrayView& array, const Box& points, int component, BlockRange& result) {
  // This may be a thread of the simulation, in which denormal numbers may count as zero. A block with such numbers
  // would then be skipped by mistake.
  const FloatEnvironment environment;
  result.component = component;
  result.all = {};
  result.lowest = {};
  if (points.empty()) return;
  with_type(array.type, [&](auto zero) { measure<decltype(zero)>(array, points, component, result); });
}

}  // namespace sidestream
