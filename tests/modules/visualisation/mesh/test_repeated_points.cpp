// Points with the same number at several places: which of them are the same point, and how many places there may be.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "sidestream/error.hpp"
#include "visualisation/mesh/repeated_points.hpp"

using namespace sidestream;

TEST_CASE("places are the same up to rounding, and where both are no numbers") {
  const double none = std::numeric_limits<double>::quiet_NaN(), far = std::numeric_limits<double>::infinity();
  const std::vector<std::array<double, 3>> places{{100, 0, 0}, {none, far, 0}, {-far, 1, 2}};
  // An infinite coordinate does not make all points the same.
  PointsOfOneNumber same(reach_of(places, 1));
  same.add({100, 0, 0}, 7);
  same.add({none, 1, 2}, 8);
  same.add({far, 1, 2}, 9);
  CHECK(same.at({100 + 1e-5, 0, 0}) == 7);
  CHECK(same.at({100.1, 0, 0}) == -1);
  CHECK(same.at({none, 1, 2}) == 8);
  CHECK(same.at({far, 1, 2}) == 9);
  CHECK(same.at({-far, 1, 2}) == -1);
}

TEST_CASE("a number that hundreds of places have was never filled in") {
  PointsOfOneNumber same(1);
  const auto all = [&] {
    for (int n = 0; n < 2000; ++n) same.add({n / 2000.0, 0, 0}, n);
  };
  CHECK_THROWS_WITH_AS(all(), doctest::Contains("found one number in point_ids at 1000 places"), Error);
}

TEST_CASE("places have one order, also those that are no numbers") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::array<double, 3>> places{{2, 0, 0}, {none, 0, 0}, {1, 0, 0}, {1, none, 0}, {1, 2, 0}, {-0.0, 0, 0}};
  const auto before = [](const auto& a, const auto& b) { return order_of(a, b) < 0; };
  std::sort(places.begin(), places.end(), before);
  for (std::size_t n = 1; n < places.size(); ++n) {
    CHECK(before(places[n - 1], places[n]));
    CHECK(!before(places[n], places[n - 1]));
  }
  CHECK(places[1][1] == 0);
  CHECK(std::isnan(places.back()[0]));
  CHECK(order_of(places.back(), places.back()) == 0);
}
