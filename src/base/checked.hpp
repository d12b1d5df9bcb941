// Arithmetic on sizes that reports overflow instead of wrapping.
#pragma once

#include <cstdint>

#include "base/fail.hpp"

namespace sidestream {

template <class T>
[[nodiscard]] T checked_multiply(T a, T b) {
  T result;
  if (__builtin_mul_overflow(a, b, &result)) {
    fail(Code::usage, "a size of {} x {} does not fit in 64 bits; use smaller extents", a, b);
  }
  return result;
}

/// The smallest multiple of `unit` (a power of two) that is not below `value`.
[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return (value + unit - 1) & ~(unit - 1);
}

}  // namespace sidestream
