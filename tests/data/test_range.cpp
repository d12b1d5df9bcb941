// Ranges, compared with a look at every point, for all types, orders and strides.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "data/region_ranges.hpp"
#include "sidestream/data/range.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace sidestream;

namespace {

/// An array over a box that contains `points`, with room between elements if there is a `gap`.
template <class T>
struct Values {
  Values(const Box& box, int components, Order order, int gap, std::mt19937& random) {
    auto strides = packed_strides(box, components, order);
    for (Index& stride : strides) stride *= gap;
    values.resize(static_cast<std::size_t>(box.count() * components * gap));
    for (T& value : values) value = one(random);
    view.data = values.data();
    view.box = box;
    view.components = components;
    view.strides = strides;
  }
  static T one(std::mt19937& random) {
    if constexpr (std::is_floating_point_v<T>) {
      switch (random() % 12) {
        case 0:
          return std::numeric_limits<T>::quiet_NaN();
        case 1:
          return random() % 2 ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
        default:
          return static_cast<T>(static_cast<double>(random()) * 1e-6 - 2000);
      }
    } else {
      const std::uint64_t bits = static_cast<std::uint64_t>(random()) << 32 | random();
      return static_cast<T>(random() % 2 ? bits : bits >> 40);
    }
  }
  std::vector<T> values;
  ArrayView view;
};

/// Checks that `range` is that of `values`. Beyond 2^53 it may be wider by one unit in the last place, never narrower.
template <class T>
void check_range(const Range& range, const std::vector<T>& values) {
  bool any = false;
  T low{}, high{};
  for (const T value : values) {
    if (value != value) continue;
    low = any ? std::min(low, value) : value;
    high = any ? std::max(high, value) : value;
    any = true;
  }
  CHECK(range.empty() == !any);
  if (!any) return;
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    CHECK(static_cast<long double>(range.minimum) <= static_cast<long double>(low));
    CHECK(static_cast<long double>(range.maximum) >= static_cast<long double>(high));
    const auto low_double = static_cast<double>(low), high_double = static_cast<double>(high);
    CHECK(range.minimum >= std::nextafter(low_double, -INFINITY));
    CHECK(range.maximum <= std::nextafter(high_double, INFINITY));
    if (std::fabs(low_double) < 9007199254740992.0) CHECK(range.minimum == low_double);
  } else {
    CHECK(range.minimum == static_cast<double>(low));
    CHECK(range.maximum == static_cast<double>(high));
  }
}

template <class T>
std::vector<T> collect(const ArrayView& view, const Box& points, int component) {
  std::vector<T> values;
  for (Index k = points.lo[2]; k < points.hi[2]; ++k) {
    for (Index j = points.lo[1]; j < points.hi[1]; ++j) {
      for (Index i = points.lo[0]; i < points.hi[0]; ++i) values.push_back(*view.at<T>(i, j, k, component));
    }
  }
  return values;
}

}  // namespace

TEST_CASE("every type, order, gap, component and ghost width") {
  std::mt19937 random(4);
  for (int type = 0; type < type_count; ++type) {
    with_type(static_cast<Type>(type), [&](auto zero) {
      using T = decltype(zero);
      for (int round = 0; round < 60; ++round) {
        Box points;
        for (int a = 0; a < 3; ++a) {
          points.lo[a] = static_cast<Index>(random() % 9) - 4;
          points.hi[a] = points.lo[a] + 1 + static_cast<Index>(random() % (a == 0 ? 40 : 5));
        }
        const int components = 1 + static_cast<int>(random() % 3);
        Values<T> array(grown(points, static_cast<Index>(random() % 3)), components,
                        random() % 2 ? Order::row : Order::column, 1 + static_cast<int>(random() % 2), random);
        array.view.type = static_cast<Type>(type);
        const int component = static_cast<int>(random() % static_cast<unsigned>(components));
        BlockRange found;
        found.component = -5;
        found.all = {-1e300, 1e300};  // earlier contents must be removed
        measure_range(array.view, points, component, found);
        CHECK(found.component == component);
        check_range(found.all, collect<T>(array.view, points, component));
        for (std::size_t mask = 1; mask < 8; ++mask) {
          Box layer = points;
          for (int a = 0; a < 3; ++a) {
            if (mask >> a & 1) layer.hi[a] = layer.lo[a] + 1;
          }
          check_range(found.lowest[mask - 1], collect<T>(array.view, layer, component));
        }
      }
    });
  }
}

TEST_CASE("no points, and nothing but NaN: an empty range") {
  const double nan = NAN;
  ArrayView view;
  view.data = &nan;
  view.box = {{0, 0, 0}, {1, 1, 1}};
  BlockRange found;
  measure_range(view, view.box, 0, found);
  CHECK(found.all.empty());
  CHECK(found.lowest[1].empty());
  measure_range(view, {}, 0, found);
  CHECK(found.all.empty());
}

TEST_CASE("a range brackets values that have numbers on both sides, the upper end counting as above") {
  CHECK(Range{1, 3}.brackets(2));
  CHECK(Range{1, 3}.brackets(3));
  CHECK(!Range{1, 3}.brackets(1));
  CHECK(!Range{1, 3}.brackets(3.5));
  CHECK(!Range{}.brackets(0));
}

#if defined(__x86_64__)
TEST_CASE("denormal numbers count in a program that was built to flush them") {
  constexpr double tiny = 4e-310;
  const std::vector<double> values{tiny, -tiny, 2 * tiny, tiny};
  ArrayView view;
  view.data = values.data();
  view.box = Box{{0, 0, 0}, {2, 2, 1}};
  view.strides = packed_strides(view.box, 1, Order::column);
  BlockRange range;
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // flush to zero, denormals are zero: what -ffast-math sets
  measure_range(view, view.box, 0, range);
  CHECK(_mm_getcsr() == (before | 0x8040));
  _mm_setcsr(before);
  CHECK(range.all.minimum == -tiny);
  CHECK(range.all.maximum == 2 * tiny);
}
#endif

TEST_CASE("ranges of regions: boxes of a block, and the leaves of a tree that the block owns") {
  std::mt19937 random(12);
  for (int round = 0; round < 50; ++round) {
    const Index cells = 1 + static_cast<Index>(random() % 40);
    std::vector<double> values(static_cast<std::size_t>(2 * cells));
    std::vector<std::uint8_t> refined(static_cast<std::size_t>(cells)), owned(refined.size());
    for (double& value : values) value = random() % 9 == 0 ? std::nan("") : static_cast<double>(random() % 1000);
    for (auto* const flags : {&refined, &owned}) {
      for (std::uint8_t& flag : *flags) flag = random() % 3 == 0;
    }
    const auto view_of = [&](const auto& array, Type type, int components) {
      return ArrayView{array.data(),         type, MemorySpace::host, {{0, 0, 0}, {cells, 1, 1}}, components,
                       {components, 0, 0, 1}};
    };
    // Variables 0 to 2; block 7 is there.
    const FindArray find = [&](std::int32_t variable, std::int64_t block) {
      if (block != 7) return ArrayView{};
      if (variable == 1) return view_of(refined, Type::uint8, 1);
      return variable == 2 ? view_of(owned, Type::uint8, 1) : view_of(values, Type::float64, 2);
    };
    const Index begin = static_cast<Index>(random() % static_cast<unsigned>(cells));
    RangeRegion part{7, 7, RangeRegion::Kind::cells, 0, 0, 1, -1, -1, {{begin, 0, 0}, {cells + 3, 1, 1}}};
    RangeRegion leaves{7, 7, RangeRegion::Kind::leaves, 0, 0, 1, 1, 2, {}};
    RangeRegion all_leaves = leaves, unflagged = leaves, absent = part;
    all_leaves.owned = -1;
    unflagged.refined = -1;
    absent.block = 8;
    const std::vector<Range> found =
        measure_regions(std::vector<RangeRegion>{part, leaves, all_leaves, unflagged, absent}, find);
    std::vector<Range> expected(5);
    for (Index i = 0; i < cells; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double value = values[2 * at + 1];
      if (std::isnan(value)) continue;
      if (i >= begin) expected[0].add({value, value});
      if (refined[at] == 0 && owned[at] != 0) expected[1].add({value, value});
      if (refined[at] == 0) expected[2].add({value, value});
      expected[3].add({value, value});
    }
    CHECK(found == expected);
  }
}
