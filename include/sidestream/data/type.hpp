// The element types that a variable can have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace sidestream {

/// Element type of a variable. The numeric values are part of the message and file formats.
enum class Type : std::int32_t {
  int8 = 0,
  int16 = 1,
  int32 = 2,
  int64 = 3,
  uint8 = 4,
  uint16 = 5,
  uint32 = 6,
  uint64 = 7,
  float32 = 8,
  float64 = 9,
};

inline constexpr int type_count = 10;

/// Size of one element in bytes.
[[nodiscard]] constexpr std::size_t size_of(Type type) noexcept {
  constexpr std::size_t sizes[type_count] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
  return sizes[static_cast<int>(type)];
}

/// Name as written in configurations: `int8` ... `float64`.
[[nodiscard]] constexpr std::string_view name_of(Type type) noexcept {
  constexpr std::string_view names[type_count] = {"int8",   "int16",  "int32",  "int64",   "uint8",
                                                  "uint16", "uint32", "uint64", "float32", "float64"};
  return names[static_cast<int>(type)];
}

/// The type of that name, or nothing.
[[nodiscard]] constexpr std::optional<Type> type_named(std::string_view name) noexcept {
  for (int i = 0; i < type_count; ++i) {
    if (name_of(static_cast<Type>(i)) == name) return static_cast<Type>(i);
  }
  return std::nullopt;
}

/// Calls `f(T{})` with T the C++ type of `type`; returns its result.
template <class F>
decltype(auto) with_type(Type type, F&& f) {
  switch (type) {
    case Type::int8:
      return std::forward<F>(f)(std::int8_t{});
    case Type::int16:
      return std::forward<F>(f)(std::int16_t{});
    case Type::int32:
      return std::forward<F>(f)(std::int32_t{});
    case Type::int64:
      return std::forward<F>(f)(std::int64_t{});
    case Type::uint8:
      return std::forward<F>(f)(std::uint8_t{});
    case Type::uint16:
      return std::forward<F>(f)(std::uint16_t{});
    case Type::uint32:
      return std::forward<F>(f)(std::uint32_t{});
    case Type::uint64:
      return std::forward<F>(f)(std::uint64_t{});
    case Type::float32:
      return std::forward<F>(f)(float{});
    case Type::float64:
      break;
  }
  return std::forward<F>(f)(double{});
}

}  // namespace sidestream
