// Structs that are sent field by field. Each declares the number of its fields, and writers and readers use the same
// list. Adding a field without counting it is a compile error.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

/// The number of fields of a struct that is sent field by field; 0 for all other types.
template <class T>
inline constexpr std::size_t field_count = 0;

template <class T>
concept HasFields = (field_count<std::remove_const_t<T>> > 0);

/// References to all fields, in their order.
template <HasFields T>
[[nodiscard]] constexpr auto fields_of(T& all) noexcept {
  constexpr std::size_t count = field_count<std::remove_const_t<T>>;
  static_assert(count <= 9, "another line is needed below");
  if constexpr (count == 1) {
    auto& [a] = all;
    return std::tie(a);
  } else if constexpr (count == 2) {
    auto& [a, b] = all;
    return std::tie(a, b);
  } else if constexpr (count == 3) {
    auto& [a, b, c] = all;
    return std::tie(a, b, c);
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = all;
    return std::tie(a, b, c, d);
  } else if constexpr (count == 5) {
    auto& [a, b, c, d, e] = all;
    return std::tie(a, b, c, d, e);
  } else if constexpr (count == 6) {
    auto& [a, b, c, d, e, f] = all;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (count == 7) {
    auto& [a, b, c, d, e, f, g] = all;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (count == 8) {
    auto& [a, b, c, d, e, f, g, h] = all;
    return std::tie(a, b, c, d, e, f, g, h);
  } else {
    auto& [a, b, c, d, e, f, g, h, i] = all;
    return std::tie(a, b, c, d, e, f, g, h, i);
  }
}

// Writing and reading. Types without fields are left to ByteWriter and ByteReader; vectors have their length in front,
// and variants the number of their alternative.

template <class T>
void write_fields(ByteWriter& out, const T& value) {
  if constexpr (HasFields<T>) {
    std::apply([&](const auto&... field) { (write_fields(out, field), ...); }, fields_of(value));
  } else {
    out.put(value);
  }
}

template <HasFields T>
void write_fields(ByteWriter& out, const std::vector<T>& values) {
  out.put(values.size());
  for (const T& value : values) write_fields(out, value);
}

template <class... Types>
void write_fields(ByteWriter& out, const std::variant<Types...>& value) {
  out.put(value.index());
  std::visit([&](const auto& held) { write_fields(out, held); }, value);
}

template <class T>
void read_fields(ByteReader& in, T& value) {
  if constexpr (HasFields<T>) {
    std::apply([&](auto&... field) { (read_fields(in, field), ...); }, fields_of(value));
  } else {
    in.get(value);
  }
}

template <HasFields T>
void read_fields(ByteReader& in, std::vector<T>& values) {
  values.clear();
  for (auto left = in.get<std::size_t>(); left > 0; --left) read_fields(in, values.emplace_back());
}

template <std::size_t N = 0, class... Types>
void read_alternative(ByteReader& in, std::variant<Types...>& value, std::size_t number) {
  if constexpr (N < sizeof...(Types)) {
    if (number != N) return read_alternative<N + 1>(in, value, number);
    read_fields(in, value.template emplace<N>());
  } else {
    fail(Code::internal, "a message names the type {} of a value, of which there are {}", number, N);
  }
}

template <class... Types>
void read_fields(ByteReader& in, std::variant<Types...>& value) {
  read_alternative(in, value, in.get<std::size_t>());
}

/// A value as a message of its own.
template <class T>
[[nodiscard]] Bytes packed_fields(const T& value) {
  ByteWriter out;
  write_fields(out, value);
  return out.take();
}

/// The value in such a message.
template <class T>
[[nodiscard]] T unpacked_fields(ByteReader in) {
  T value;
  read_fields(in, value);
  return value;
}

}  // namespace sidestream
