// Thresholds and clips of trees, compared with a recursion over all cells; the same bytes for every division.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "modules/visualisation/part_checks.hpp"
#include "modules/visualisation/tree_world.hpp"
#include "support/list_blocks.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "support/test_all.hpp"
#include "visualisation/extract/part_query.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

CellSet set_of(const CapturedResults& results) {
  REQUIRE(results.cell_sets.size() == 1);
  return results.cell_sets.begin()->second;
}

CellSet make(const AnalysisKind& kind, const std::string& yaml, const World& world, std::size_t blocks = 1) {
  MpiCommunicator self(MPI_COMM_SELF);
  const Trees trees(world, blocks);
  return set_of(run_lists(kind, yaml, trees.domain, trees.blocks, self, 2));
}

/// The leaves for which `in` is true, level by level, x fastest.
std::vector<TreeCell> chosen(const World& world, const std::function<bool(const TreeCell&)>& in) {
  std::vector<TreeCell> cells;
  world.for_each_leaf([&](const TreeCell& cell) {
    if (in(cell)) cells.push_back(cell);
  });
  std::sort(cells.begin(), cells.end(), [](const TreeCell& a, const TreeCell& b) {
    if (a.level != b.level) return a.level < b.level;
    return std::array{a.index[2], a.index[1], a.index[0]} < std::array{b.index[2], b.index[1], b.index[0]};
  });
  return cells;
}

void check_cells(const CellSet& set, const World& world, const std::vector<TreeCell>& expected) {
  const std::uint8_t types[] = {3, 8, 11};
  REQUIRE(set.types.size() == expected.size());
  bool right = true;
  for (std::size_t n = 0; n < expected.size(); ++n) {
    right &= set.types[n] == types[world.dimensions - 1];
    const std::vector<std::size_t> points = points_of_cell(set, n);
    REQUIRE(points.size() == std::size_t{1} << world.dimensions);
    for (std::size_t c = 0; c < points.size(); ++c) {
      right &= set.points[points[c]] == world.corner(expected[n], static_cast<int>(c));
    }
    right &= set.cell_data.at(0).values.at(n) == world.value(expected[n]);
    right &= set.cell_data.at(1).values.at(2 * n) == expected[n].level;
  }
  CHECK(right);
  CHECK(points_are_once(set));  // also points that cells of two levels share
}

}  // namespace

TEST_CASE("leaves in a range are those that a recursion over all of them finds") {
  for (const int dimensions : {1, 2, 3}) {
    CAPTURE(dimensions);
    const World world = world_of(dimensions);
    const auto in = [&](const TreeCell& cell) { return world.value(cell) >= 0.2 && world.value(cell) <= 1.3; };
    const std::vector<TreeCell> expected = chosen(world, in);
    REQUIRE(expected.size() > 3);
    CHECK(expected.front().level < expected.back().level);
    for (const std::size_t blocks : ends_of({1, 2, 3, 5, 8})) {
      check_cells(make(threshold_kind(), "{variable: t, minimum: 0.2, maximum: 1.3, fields: level}", world, blocks),
                  world, expected);
    }
    CHECK(make(threshold_kind(), "{variable: t, minimum: 100}", world, 3).types.empty());
  }
}

TEST_CASE("what a plane or a box leaves of a tree has its exact size, and both sides are the whole") {
  for (const int dimensions : {1, 2, 3}) {
    CAPTURE(dimensions);
    const World world = world_of(dimensions);
    double whole = 1;
    for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
      whole *= static_cast<double>(world.roots[a]) * world.spacing[a];
    }
    for (const std::size_t blocks : ends_of({1, 3, 8})) {
      const std::string plane = dimensions == 1 ? "{variable: t, axis: x, position: 0.3"
                                                : "{variable: t, normal: [1, 0.5, 0.25], origin: [0.3, 1, 2.4]";
      const CellSet above = make(clip_kind(), plane + ", fields: level}", world, blocks);
      const CellSet below = make(clip_kind(), plane + ", side: below}", world, blocks);
      CHECK(size_of(above) > 0.1 * whole);
      CHECK(size_of(above) + size_of(below) == doctest::Approx(whole));
      const std::string box = "{variable: t, low: [-0.7, 0.61, 2.1], high: [1.1, 1.3, 3.2], keep: ";
      const double inside = 1.8 * (dimensions > 1 ? 0.69 : 1) * (dimensions > 2 ? 1.1 : 1);
      CHECK(size_of(make(clip_kind(), box + "inside}", world, blocks)) == doctest::Approx(inside));
      CHECK(size_of(make(clip_kind(), box + "outside}", world, blocks)) == doctest::Approx(whole - inside));
    }
  }
}

TEST_CASE("whole cells of a clip are those that reach over the plane") {
  const World world = world_of(3);
  const auto reaches = [&](const TreeCell& cell) { return world.corner(cell, 7)[0] > 0.3; };
  check_cells(make(clip_kind(), "{variable: t, axis: x, position: 0.3, whole_cells: true, fields: level}", world, 5),
              world, chosen(world, reaches));
}

TEST_CASE("the same bytes for every division of a tree, on every number of servers") {
  MpiCommunicator all(test_ranks());
  const std::pair<AnalysisKind, std::string> tasks[] = {
      {threshold_kind(), "{variable: t, minimum: 0.2, fields: level}"},
      {clip_kind(), "{variable: t, axis: x, position: 0.3, fields: level}"},
      {clip_kind(), "{variable: t, low: [-0.7, 0.61, 2.1], high: [1.1, 1.3, 3.2], keep: outside}"}};
  for (const int dimensions : {1, 2, 3}) {
    const World world = world_of(dimensions);
    for (const auto& [kind, yaml] : tasks) {
      const CellSet expected = make(kind, yaml, world);
      REQUIRE(!expected.types.empty());
      for (const std::size_t blocks : ends_of({2, 3, 5, 8})) {
        const Trees trees(world, blocks);
        const CapturedResults made = run_lists(kind, yaml, trees.domain, trees.blocks, all, 2);
        if (all.rank() == 0) CHECK(same_bits(set_of(made), expected));
      }
    }
  }
}

TEST_CASE("levels with more places than 64 bits can count") {
  World world = world_of(3);
  world.refined = [](const TreeCell& c) { return c.level < 25 && c.index == Index3{0, 0, 0}; };
  const CellSet set = make(threshold_kind(), "{variable: level, component: 0, minimum: 22, fields: t}", world, 2);
  REQUIRE(set.types.size() == 7 * 3 + 8);
  // The corners of cells of each level; a corner that the next level shares counts once.
  CHECK(set.points.size() == 27 + 3 * 19);
  CHECK(points_are_once(set));
  CHECK(size_of(set) / (3 * std::exp2(-21 * 3)) == doctest::Approx(1).epsilon(1e-6));
  CHECK(same_bits(set, make(threshold_kind(), "{variable: level, component: 0, minimum: 22, fields: t}", world)));
}

TEST_CASE("of a picture of a tree in one block the faces between cells of one level are left out") {
  World world = world_of(3);
  world.refined = [](const TreeCell& c) { return c.level < 2; };
  const Trees trees(world, 1);
  ThresholdQuery query;
  query.variables = {trees.domain.metadata.find_variable("t")->id};
  query.low = -100;
  const auto views = views_of(trees.domain, trees.blocks, {0});
  const Iteration iteration;
  std::size_t triangles = 0;
  for (const Piece& piece : extract(query, LocalInput{iteration, trees.domain.metadata, views, 0, {}})) {
    triangles += piece.triangles.size();
  }
  // All 8 x 4 x 4 cells, except for the plane x = 5 of NaN.
  const std::size_t first = 2 * (5 * 4 + 5 * 4 + 4 * 4), second = 2 * (2 * 4 + 2 * 4 + 4 * 4);
  CHECK(triangles == 2 * (first + second));
}

TEST_CASE("flags that are no tree get a sentence") {
  Trees trees(world_of(3), 1);
  std::get<std::vector<std::uint8_t>>(trees.blocks[0].values["split"]).back() = 1;
  MpiCommunicator self(MPI_COMM_SELF);
  const std::string message = message_of([&] {
    static_cast<void>(run_lists(threshold_kind(), "{variable: t, minimum: 0}", trees.domain, trees.blocks, self));
  });
  CHECK(contains(message, "by its flags ('refined') its tree has"));
}
