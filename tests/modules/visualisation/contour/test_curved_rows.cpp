// Rows of coordinates have the same numbers however they were published and divided.
#include "visualisation/contour/curved_points.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace sidestream;

namespace {

constexpr Box all{{2, 3, 4}, {9, 8, 13}};

double coordinate(const Index3& p, Index component) {
  const auto [i, j, k] = p;
  return std::sin(0.3 * static_cast<double>(i + 2 * component)) + 0.1 * static_cast<double>(j * (component + 1)) -
         0.7 * static_cast<double>(k) / static_cast<double>(component + 2);
}

/// An array of coordinates whose components are adjacent, in separate planes, or apart with gaps.
template <class C>
struct Coordinates {
  Coordinates(const Box& box, int layout) {
    const Index n = box.extent(0), rows = n * box.extent(1), points = box.count();
    const std::array<Index, 4> strides[3] = {{3, 3 * n, 3 * rows, 1}, {1, n, rows, points}, {5, 5 * n, 5 * rows, 2}};
    numbers.resize(static_cast<std::size_t>(6 * points));
    array.data = numbers.data();
    array.type = std::is_same_v<C, float> ? Type::float32 : Type::float64;
    array.box = box;
    array.components = 3;
    array.strides = strides[layout];
    for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
      for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
        for (Index i = box.lo[0]; i < box.hi[0]; ++i) {
          for (Index c = 0; c < 3; ++c) {
            *const_cast<C*>(array.at<C>(i, j, k, static_cast<int>(c))) = static_cast<C>(coordinate({i, j, k}, c));
          }
        }
      }
    }
  }
  Coordinates(const Coordinates&) = delete;
  std::vector<C> numbers;
  ArrayView array;
};

/// A block that owns the points below `cut` along an axis. The rest, except `missing`, is its halo.
template <class C>
struct Divided {
  Divided(int axis, Index cut, int layout, const Box& missing)
      : lower(part(axis, cut, false), layout), upper(part(axis, cut, true), layout) {
    view.array = lower.array;
    view.owned = {lower.array.box};
    Box rest = upper.array.box;
    if (!missing.empty()) rest.hi[axis] = missing.lo[axis];
    if (!rest.empty()) view.halo.push_back({rest, upper.array});
  }
  static Box part(int axis, Index cut, bool above) {
    Box box = all;
    (above ? box.lo : box.hi)[axis] = cut;
    return box;
  }
  Coordinates<C> lower, upper;
  BlockView view;
};

/// All positions of the rows of a box; rows are in the order in which surfaces ask for them.
template <class Rows>
std::vector<double> places(Rows& rows, const Box& box) {
  std::vector<double> places;
  for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
    for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
      // Other requests in between do not change a row that is held.
      const auto* row = rows.row(j, k);
      static_cast<void>(rows.row(box.lo[1], std::min(k + 2, box.hi[2] - 1)));
      static_cast<void>(rows.row(j, std::max(k - 1, box.lo[2])));
      for (Index n = 0; n < box.extent(0); ++n) {
        for (Index c = 0; c < 3; ++c) places.push_back(static_cast<double>(row[n * rows.step() + c * rows.next()]));
      }
    }
  }
  return places;
}

template <class C>
std::vector<double> expected_nodes(const Box& missing) {
  std::vector<double> places;
  for (Index k = all.lo[2]; k < all.hi[2]; ++k) {
    for (Index j = all.lo[1]; j < all.hi[1]; ++j) {
      for (Index i = all.lo[0]; i < all.hi[0]; ++i) {
        const bool there = !missing.contains(Index3{i, j, k});
        for (Index c = 0; c < 3; ++c) {
          places.push_back(there ? static_cast<double>(static_cast<C>(coordinate({i, j, k}, c)))
                                 : std::numeric_limits<double>::quiet_NaN());
        }
      }
    }
  }
  return places;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same);
}

/// Calls work(axis, cut, layout) for every layout, and for cuts that leave nothing, a part and everything.
template <class Work>
void for_divisions(Work work) {
  for (int layout = 0; layout < 3; ++layout) {
    for (int axis = 0; axis < 3; ++axis) {
      for (const Index cut : {all.lo[axis], all.lo[axis] + 1, all.lo[axis] + 3, all.hi[axis] - 1, all.hi[axis]}) {
        CAPTURE(layout);
        CAPTURE(axis);
        CAPTURE(cut);
        work(axis, cut, layout);
      }
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("rows of nodes are what was published", C, float, double) {
  for_divisions([](int axis, Index cut, int layout) {
    const Divided<C> divided(axis, cut, layout, {});
    NodeRows<C> rows(&divided.view, all);
    CHECK(same_bits(places(rows, all), expected_nodes<C>({})));
  });
}

TEST_CASE_TEMPLATE("nodes that are nowhere to be had have no place", C, float, double) {
  Box missing = all;
  missing.lo[0] = all.lo[0] + 4;
  const Divided<C> divided(0, all.lo[0] + 3, 0, missing);
  NodeRows<C> rows(&divided.view, all);
  CHECK(same_bits(places(rows, all), expected_nodes<C>(missing)));
  NodeRows<C> none(nullptr, all);
  CHECK(same_bits(places(none, all), expected_nodes<C>(all)));
}

TEST_CASE_TEMPLATE("the middles of cells are the means of their nodes, the same bits for every division", C, float,
                   double) {
  const Box cells{all.lo, {all.hi[0] - 1, all.hi[1] - 1, all.hi[2] - 1}};
  const Divided<C> whole(0, all.hi[0], 0, {});
  MiddleRows<C> rows_of_whole(&whole.view, cells);
  const std::vector<double> middles = places(rows_of_whole, cells);
  std::size_t n = 0;
  for (Index k = cells.lo[2]; k < cells.hi[2]; ++k) {
    for (Index j = cells.lo[1]; j < cells.hi[1]; ++j) {
      for (Index i = cells.lo[0]; i < cells.hi[0]; ++i) {
        for (Index c = 0; c < 3; ++c, ++n) {
          double sum = 0;
          for (Index corner = 0; corner < 8; ++corner) {
            const Index3 p{i + (corner & 1), j + (corner >> 1 & 1), k + (corner >> 2)};
            sum += static_cast<double>(static_cast<C>(coordinate(p, c)));
          }
          REQUIRE(middles[n] == doctest::Approx(sum / 8).epsilon(1e-13));
        }
      }
    }
  }
  CHECK(n == middles.size());
  for_divisions([&](int axis, Index cut, int layout) {
    const Divided<C> divided(axis, cut, layout, {});
    MiddleRows<C> rows(&divided.view, cells);
    CHECK(same_bits(places(rows, cells), middles));
  });
}
