// Values of the sample: a field that is smooth in every direction, optionally with exceptional numbers.
#pragma once

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <tuple>
#include <type_traits>

#include "sidestream/data/variable.hpp"

namespace sidestream::conformance {

/// Different for each variable and component, between 0.2 and 3.8, so that it fits every type.
inline double smooth(const Variable& variable, const Index3& p, int component) {
  const double phase = 0.9 * variable.id + 0.4 * component;
  const auto [i, j, k] = std::tuple(static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2]));
  return 2 + std::sin(0.71 * i + phase) * std::cos(0.43 * j) + 0.8 * std::sin(0.57 * k - 0.3 * i * phase);
}

/// `odd`: a fifth of the values are NaN, infinite, or the smallest and largest numbers.
template <class T>
T value_at(const Variable& variable, const Index3& p, int component, bool odd) {
  const auto number = static_cast<std::uint64_t>(p[0] + 7 * p[1] + 31 * p[2] + component);
  if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    constexpr T all[] = {Limits::quiet_NaN(),
                         Limits::infinity(),
                         -Limits::infinity(),
                         Limits::max(),
                         Limits::lowest(),
                         Limits::denorm_min(),
                         T(0),
                         T(-0.0)};
    if (odd && number % 5 == 0) return all[number / 5 % std::size(all)];
  } else if (odd && number % 5 == 0) {
    return number % 2 == 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
  }
  return static_cast<T>(smooth(variable, p, component) * (std::is_floating_point_v<T> ? 1 : 25));
}

}  // namespace sidestream::conformance
