// Errors with a formatted sentence.
#pragma once

#include <fmt/format.h>
#include <cstdint>
#include <utility>

#include "sidestream/error.hpp"

namespace sidestream {

/// Throws an error: fail(Code::file, "cannot open '{}': {}", path, reason)
template <class... Args>
[[noreturn]] void fail(Code code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

// Arithmetic on sizes that reports overflow instead of wrapping.

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
