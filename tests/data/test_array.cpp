// Copies of arrays, compared with address arithmetic for each element, for every type, order and gap.
#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <random>

#include "sidestream/data/array.hpp"
#include "sidestream/error.hpp"

using namespace sidestream;

namespace {

/// An array over `box` in which element (i, j, k, c) has a value of its own.
template <class T>
struct Field {
  std::vector<T> values;
  ArrayView view;

  /// `gap` is the number of unused elements after each row, plane and point.
  Field(const Box& box, int components, Order order, Index gap) {
    const int fast = order == Order::column ? 0 : 2;
    view.box = box;
    view.components = components;
    view.type = type_of();
    Index stride = components + gap;
    for (const int axis : {fast, 1, 2 - fast}) {
      view.strides[axis] = stride;
      stride = stride * box.extent(axis) + gap;
    }
    view.strides[3] = 1;
    values.assign(static_cast<std::size_t>(stride), T(111));
    for_each([&](Index i, Index j, Index k, int c) { values[offset(i, j, k, c)] = value(i, j, k, c); });
    view.data = values.data();
  }

  static T value(Index i, Index j, Index k, int c) { return static_cast<T>(1 + i + 4 * j + 16 * k + 60 * c); }

  [[nodiscard]] std::size_t offset(Index i, Index j, Index k, int c) const {
    return static_cast<std::size_t>((i - view.box.lo[0]) * view.strides[0] + (j - view.box.lo[1]) * view.strides[1] +
                                    (k - view.box.lo[2]) * view.strides[2] + c * view.strides[3]);
  }

  template <class F>
  void for_each(F&& f) const {
    for (Index k = view.box.lo[2]; k < view.box.hi[2]; ++k) {
      for (Index j = view.box.lo[1]; j < view.box.hi[1]; ++j) {
        for (Index i = view.box.lo[0]; i < view.box.hi[0]; ++i) {
          for (int c = 0; c < view.components; ++c) f(i, j, k, c);
        }
      }
    }
  }

  static Type type_of() {
    for (int n = 0; n < type_count; ++n) {
      const bool same = with_type(static_cast<Type>(n), [](auto zero) { return std::is_same_v<decltype(zero), T>; });
      if (same) return static_cast<Type>(n);
    }
    return Type::float64;
  }
};

const Box whole{{0, 0, 0}, {3, 4, 2}}, part{{1, 1, 0}, {3, 3, 2}};

template <class T>
void check_pack(int components, Order from, Order to, Index gap) {
  const Field<T> field(whole, components, from, gap);
  std::vector<T> out(static_cast<std::size_t>(part.count() * components));
  pack(field.view, part, to, std::as_writable_bytes(std::span(out)));
  std::size_t n = 0;
  const int fast = to == Order::column ? 0 : 2, slow = 2 - fast;
  bool equal = true;
  Index3 at{};
  for (at[slow] = part.lo[slow]; at[slow] < part.hi[slow]; ++at[slow]) {
    for (at[1] = part.lo[1]; at[1] < part.hi[1]; ++at[1]) {
      for (at[fast] = part.lo[fast]; at[fast] < part.hi[fast]; ++at[fast]) {
        for (int c = 0; c < components; ++c) equal = equal && out[n++] == Field<T>::value(at[0], at[1], at[2], c);
      }
    }
  }
  CHECK(equal);
  CHECK(n == out.size());
}

template <class T>
void check_to_double(int components, Order order, Index gap) {
  const Field<T> field(whole, components, order, gap);
  const Box target{{0, 0, -1}, {3, 4, 2}};
  for (int c = 0; c < components; ++c) {
    std::vector<double> out(static_cast<std::size_t>(target.count()), -7);
    copy_to_double(field.view, c, part, out.data(), target);
    bool equal = true;
    std::size_t n = 0;
    for (Index k = target.lo[2]; k < target.hi[2]; ++k) {
      for (Index j = target.lo[1]; j < target.hi[1]; ++j) {
        for (Index i = target.lo[0]; i < target.hi[0]; ++i, ++n) {
          const double expected =
              part.contains(Index3{i, j, k}) ? static_cast<double>(Field<T>::value(i, j, k, c)) : -7;
          equal = equal && out[n] == expected;
        }
      }
    }
    CHECK(equal);
  }
}

}  // namespace

TEST_CASE("packing and converting every type in every order") {
  for (int type = 0; type < type_count; ++type) {
    for (const int components : {1, 2}) {
      for (const Index gap : {0, 3}) {
        for (const Order from : {Order::column, Order::row}) {
          CAPTURE(type);
          CAPTURE(components);
          CAPTURE(gap);
          with_type(static_cast<Type>(type), [&](auto zero) {
            using T = decltype(zero);
            check_pack<T>(components, from, Order::column, gap);
            check_pack<T>(components, from, Order::row, gap);
            check_to_double<T>(components, from, gap);
          });
        }
      }
    }
  }
}

TEST_CASE("packing reversed axes and separate components") {
  // Index i runs backwards through memory; components lie in separate planes.
  const std::vector<float> memory{12, 11, 10, 22, 21, 20};
  ArrayView view;
  view.data = memory.data() + 2;
  view.type = Type::float32;
  view.box = {{0, 0, 0}, {3, 1, 1}};
  view.components = 2;
  view.strides = {-1, 3, 3, 3};
  std::vector<float> out(6);
  pack(view, view.box, Order::column, std::as_writable_bytes(std::span(out)));
  CHECK(out == std::vector<float>{10, 20, 11, 21, 12, 22});
}

TEST_CASE("packed layouts") {
  const Box box{{5, 5, 5}, {7, 8, 9}};
  CHECK(packed_strides(box, 1, Order::column) == std::array<Index, 4>{1, 2, 6, 1});
  CHECK(packed_strides(box, 3, Order::row) == std::array<Index, 4>{36, 12, 3, 1});
  CHECK(packed_bytes(box, 3, Type::float32) == 2 * 3 * 4 * 3 * 4);
  CHECK(packed_bytes({}, 3, Type::float64) == 0);
  constexpr Index big = Index{1} << 31;
  CHECK_THROWS_AS(static_cast<void>(packed_bytes({{0, 0, 0}, {big, big, 1}}, 1, Type::float64)), Error);
}

TEST_CASE("too little room and nothing to copy") {
  const Field<double> field(whole, 1, Order::column, 0);
  std::vector<std::byte> little(7);
  CHECK_THROWS_AS(pack(field.view, part, Order::column, little), Error);
  pack(field.view, {}, Order::column, {});
  double untouched = 5;
  copy_to_double(field.view, 0, {}, &untouched, part);
  CHECK(untouched == 5);
}

TEST_CASE("types have names and sizes") {
  for (int n = 0; n < type_count; ++n) {
    const auto type = static_cast<Type>(n);
    CHECK(type_named(name_of(type)) == type);
    CHECK(with_type(type, [](auto zero) { return sizeof(zero); }) == size_of(type));
  }
  CHECK(!type_named("double"));
}
