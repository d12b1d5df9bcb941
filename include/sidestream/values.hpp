// Arrays of the program with type and length, which a publication compares with the declarations. C++17.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/data/type.hpp"

namespace sidestream {

/// The elements of T: `count` numbers of the type `type`. A number has one element, itself; arrays of numbers, such as
/// std::array<double, 3>, count as their numbers. Other types have no members.
template <class T, class = void>
struct Element {};

template <class T>
struct Element<T, std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8>> {
  static constexpr std::size_t count = 1;
  static constexpr Type type = std::is_floating_point_v<T> ? (sizeof(T) == 4 ? Type::float32 : Type::float64)
                               : std::is_signed_v<T>       ? (sizeof(T) == 1   ? Type::int8
                                                              : sizeof(T) == 2 ? Type::int16
                                                              : sizeof(T) == 4 ? Type::int32
                                                                               : Type::int64)
                               : sizeof(T) == 1            ? Type::uint8
                               : sizeof(T) == 2            ? Type::uint16
                               : sizeof(T) == 4            ? Type::uint32
                                                           : Type::uint64;
};

template <class T, std::size_t N>
struct Element<T[N], std::void_t<decltype(Element<T>::type)>> {
  static constexpr std::size_t count = N * Element<T>::count;
  static constexpr Type type = Element<T>::type;
};

template <class T, std::size_t N>
struct Element<std::array<T, N>, std::void_t<decltype(Element<T>::type)>> {
  static constexpr std::size_t count = N * Element<T>::count;
  static constexpr Type type = Element<T>::type;
};

/// Contiguous numbers in the variable's order, components first. Made from a pointer and a count, or from anything that
/// has data() and size(): std::vector, std::array, std::span. Refers to them.
struct Values {
  Type type = Type::float64;
  const void* data = nullptr;
  std::size_t count = 0;  ///< count of numbers of that type

  Values(Type of, const void* at, std::size_t numbers) noexcept : type(of), data(at), count(numbers) {}
  template <class T, class E = Element<T>, Type type_of_element = E::type>
  Values(const T* at, std::size_t elements) noexcept : type(type_of_element), data(at), count(elements * E::count) {}
  template <class Range,
            class T = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<const Range&>()))>>,
            class = decltype(std::size(std::declval<const Range&>())), Type type_of_element = Element<T>::type>
  Values(const Range& range) noexcept  // NOLINT(google-explicit-constructor): publish("t", 0, values)
      : Values(std::data(range), std::size(range)) {}
};

/// The arrays of several variables, blocks or components. It is a separate type, so that two pointers in braces do not
/// make such a list.
struct ValuesList {
  std::vector<Values> all;
  ValuesList(std::initializer_list<Values> list) : all(list) {}
  explicit ValuesList(std::vector<Values> list) : all(std::move(list)) {}
};

struct NamedValues {
  std::string_view variable;
  Values values;
};

/// An array with an extent and a stride for each axis: those of the mesh in the order i, j, k (lists: one), and one of
/// components, which may be left out if there is one. Strides are in numbers and may be negative; `data` is the first
/// element. Refers to the array. Throws Error(usage) if there are not as many strides as extents, or more than four.
class StridedValues {
 public:
  StridedValues(Type type, const void* data, const std::vector<Index>& extents, const std::vector<Index>& strides,
                int component_axis = -1);
  template <class T, class E = Element<T>, Type type_of_element = E::type, class = std::enable_if_t<E::count == 1>>
  StridedValues(const T* data, const std::vector<Index>& extents, const std::vector<Index>& strides,
                int component_axis = -1)
      : StridedValues(type_of_element, data, extents, strides, component_axis) {}

  [[nodiscard]] Type type() const noexcept { return type_; }
  [[nodiscard]] const void* data() const noexcept { return data_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] const Index* extents() const noexcept { return extents_.data(); }
  [[nodiscard]] const Index* strides() const noexcept { return strides_.data(); }
  /// Number of the axis with the components, counted from 0; negative: the last.
  [[nodiscard]] int component_axis() const noexcept { return component_axis_; }

 private:
  Type type_;
  const void* data_;
  int rank_;
  std::array<Index, 4> extents_{}, strides_{};
  int component_axis_;
};

}  // namespace sidestream
