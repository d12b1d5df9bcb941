// BlockView::gather, compared with a look-up of every point.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "sidestream/data/block.hpp"
#include "support/fake_domain.hpp"

using namespace sidestream;

namespace {

double value(const Index3& p, int c) { return static_cast<double>(p[0] + 100 * p[1] + 10000 * p[2]) + 0.5 * c; }

constexpr double wrong = -1;

/// Values over `box`, right where `valid` is true and `wrong` elsewhere, as in ghosts that nobody filled.
struct Memory {
  std::vector<double> values;
  ArrayView view;
  Memory(const Box& box, const std::vector<Box>& valid, int components, Order order) {
    view.box = box;
    view.components = components;
    view.strides = packed_strides(box, components, order);
    values.assign(static_cast<std::size_t>(box.count() * components), wrong);
    view.data = values.data();
    for (const Box& part : valid) {
      for (Index k = part.lo[2]; k < part.hi[2]; ++k) {
        for (Index j = part.lo[1]; j < part.hi[1]; ++j) {
          for (Index i = part.lo[0]; i < part.hi[0]; ++i) {
            for (int c = 0; c < components; ++c) {
              const_cast<double&>(*view.at<double>(i, j, k, c)) = value({i, j, k}, c);
            }
          }
        }
      }
    }
  }
};

bool known(const BlockView& block, const Index3& point) {
  for (const Box& box : block.owned) {
    if (box.contains(point)) return true;
  }
  for (const HaloPiece& piece : block.halo) {
    if (piece.box.contains(point)) return true;
  }
  return false;
}

void check_gather(const BlockView& block, const Box& region, int c) {
  std::vector<double> out(static_cast<std::size_t>(region.count()), 99);
  const std::int64_t missing = block.gather(region, c, out.data());
  std::int64_t expected_missing = 0;
  bool equal = true;
  std::size_t n = 0;
  for (Index k = region.lo[2]; k < region.hi[2]; ++k) {
    for (Index j = region.lo[1]; j < region.hi[1]; ++j) {
      for (Index i = region.lo[0]; i < region.hi[0]; ++i, ++n) {
        const Index3 point{i, j, k};
        const bool here = known(block, point);
        expected_missing += here ? 0 : 1;
        equal = equal && (here ? out[n] == value(point, c) : std::isnan(out[n]));
      }
    }
  }
  CHECK(equal);
  CHECK(missing == expected_missing);
}

}  // namespace

TEST_CASE("points come from their owners, others are NaN and counted") {
  for (const Order order : {Order::column, Order::row}) {
    const Box allocated{{-1, -1, -1}, {5, 5, 4}}, points{{0, 0, 0}, {4, 4, 3}};
    // The upper i plane belongs to another block, and came with the halo.
    const std::vector<Box> owned{{{0, 0, 0}, {3, 4, 2}}, {{0, 0, 2}, {3, 4, 3}}};
    const Memory own(allocated, owned, 2, order);
    const Box right{{3, 0, 0}, {5, 4, 3}}, above{{0, 4, 0}, {3, 5, 3}};
    const Memory right_memory(grown(right, 1), {right}, 2, Order::row), above_memory(above, {above}, 2, Order::column);
    BlockView block;
    block.points = points;
    block.owned = owned;
    block.array = own.view;
    block.halo = {{right, right_memory.view}, {above, above_memory.view}};
    for (int c = 0; c < 2; ++c) {
      check_gather(block, points, c);
      check_gather(block, allocated, c);
      check_gather(block, {{0, 0, 0}, {3, 4, 3}}, c);
      check_gather(block, {{10, 10, 10}, {12, 12, 12}}, c);
    }
    std::mt19937 random(3);
    for (int round = 0; round < 200; ++round) {
      Box region;
      for (int axis = 0; axis < 3; ++axis) {
        region.lo[axis] = std::uniform_int_distribution<Index>(-2, 4)(random);
        region.hi[axis] = region.lo[axis] + std::uniform_int_distribution<Index>(1, 5)(random);
      }
      check_gather(block, region, round % 2);
    }
  }
}

TEST_CASE("an empty region has no points") {
  BlockView block;
  CHECK(block.gather({}, 0, nullptr) == 0);
}

TEST_CASE("points count that are owned and that no finer level covers") {
  for (const Centering centering : testing::every_centering) {
    BlockView view;
    view.block.cells = {{2, 0, 0}, {8, 6, 4}};
    view.points = points_of(centering, view.block.cells);
    view.owned = difference(view.points, {{2, 0, 0}, {3, 9, 9}});
    view.covered = {{{1, 1, 1}, {4, 3, 2}}, {{6, 5, -1}, {9, 7, 2}}};
    for (Index k = 0; k < view.points.hi[2]; ++k) {
      for (Index j = 0; j < view.points.hi[1]; ++j) {
        for (Index i = 2; i < view.points.hi[0]; ++i) {
          bool counts = i >= 3;
          for (const Box& cells : view.covered) counts &= !points_of(centering, cells).contains(Index3{i, j, k});
          int found = 0;
          for (const Box& box : view.counted()) found += box.contains(Index3{i, j, k});
          REQUIRE(found == (counts ? 1 : 0));
        }
      }
    }
  }
}
