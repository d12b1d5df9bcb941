// Projections, probes, resampling and sums of chosen cells of trees. They are compared with a recursion over all
// leaves, and with results of a uniform mesh of the finest level and of the same tree as patches. Results have the same
// bytes for every division.
#include <doctest/doctest.h>

#include <cmath>

#include "analysis/common/kinds.hpp"
#include "modules/visualisation/tree_patches.hpp"
#include "modules/visualisation/tree_runs.hpp"
#include "support/grid_checks.hpp"
#include "support/ranks.hpp"
#include "support/test_all.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// The tree's values on its finest level, as a uniform mesh of one level.
FakeDomain finest(const World& world) {
  std::array<double, 3> origin{0, 0, 0}, spacing{1, 1, 1};
  Box cells{{0, 0, 0}, world.roots};
  for (std::size_t a = 0; a < static_cast<std::size_t>(world.dimensions); ++a) {
    origin[a] = world.origin[a];
    spacing[a] = world.spacing[a] / (1 << deepest);
    cells.hi[a] <<= deepest;
  }
  const auto value = [&world](const std::array<double, 3>&, const Index3& p, int) {
    TreeCell cell{deepest, p};
    for (const TreeCell& root : world.root_cells()) {
      TreeCell at = root;
      const auto holds = [&](const TreeCell& c) {
        bool in = true;
        for (std::size_t a = 0; a < static_cast<std::size_t>(world.dimensions); ++a) {
          in = in && cell.index[a] >> (deepest - c.level) == c.index[a];
        }
        return in;
      };
      if (!holds(at)) continue;
      while (world.refined(at)) {
        for (const TreeCell& child : world.children(at)) {
          if (!holds(child)) continue;
          at = child;
          break;
        }
      }
      return world.value(at);
    }
    return std::numeric_limits<double>::quiet_NaN();
  };
  return FakeDomain(cells, std::make_shared<UniformGeometry>(origin, spacing), {{"t", value}}, world.dimensions);
}

}  // namespace

TEST_CASE("projections have the bits of those of a uniform mesh of the finest level") {
  for (const int dimensions : {2, 3}) {
    const World world = world_of(dimensions);
    const FakeDomain uniform = finest(world);
    for (const std::string axis : {"x", "y", "z"}) {
      if (axis == "z" && dimensions == 2) continue;
      for (const std::string quantity : {"integral", "mean"}) {
        const std::string yaml = "{variable: t, axis: " + axis + ", quantity: " + quantity;
        CAPTURE(yaml);
        const DataSet tree = data_of(run_tree(projection_kind(), yaml + ", level: 4}", world, 3));
        const DataSet flat = data_of(run_alone(projection_kind(), yaml + "}", uniform, {uniform.mesh().cells}));
        CHECK(array_of(tree, "t").extents == array_of(flat, "t").extents);
        CHECK(array_of(tree, "t").values == array_of(flat, "t").values);
        CHECK(array_of(tree, "length").values == array_of(flat, "length").values);
      }
    }
  }
}

TEST_CASE("projections are those of the patches that the tree is, on every level, with weights, in every division") {
  MpiCommunicator all(test_ranks());
  for (const int dimensions : {2, 3}) {
    const World world = world_of(dimensions);
    for (int level = 0; level <= deepest; ++level) {
      const std::string yaml = "{variable: t, axis: y, level: " + std::to_string(level) +
                               ", weight: level, weight_component: 1, quantity: mean}";
      const DataSet expected = data_of(run_patches(projection_kind(), yaml, world));
      for (const std::size_t blocks : ends_of({1, 2, 3, 5, 8})) {
        CAPTURE(blocks);
        CHECK(same_bits(data_of(run_tree(projection_kind(), yaml, world, blocks)), expected));
        const Trees trees(world, blocks);
        const auto results = run_lists(projection_kind(), yaml, trees.domain, trees.blocks, all, 2);
        if (all.size() == 1) CHECK(same_bits(data_of(results), expected));
      }
    }
  }
}

TEST_CASE("a coarse projection has what a fine one has, added up") {
  const World world = finite_world(3);
  const auto total = [&](int level) {
    const DataSet data =
        data_of(run_tree(projection_kind(), "{variable: t, axis: z, level: " + std::to_string(level) + "}", world));
    double sum = 0;
    for (const double v : reals_of(data, "t")) sum += v / std::pow(4.0, level);
    return sum;
  };
  double expected = 0;  // per area of a root cell
  world.for_each_leaf([&](const TreeCell& leaf) { expected += world.value(leaf) * 1.5 / std::pow(8.0, leaf.level); });
  for (const int level : {0, 2, 4, 6}) CHECK(total(level) == doctest::Approx(expected));
}

TEST_CASE("probes find the leaf that a place is in, on borders the upper one, outside none") {
  for (const int dimensions : {1, 2, 3}) {
    CAPTURE(dimensions);
    const World world = world_of(dimensions);
    std::string points;
    std::vector<std::array<double, 3>> places;
    const double xs[] = {-1, -0.9, 0, 0.3, 0.5, 1, 1.7, 3, 3.1}, ys[] = {0.5, 0.7, 1, 1.5}, zs[] = {2, 2.3, 2.75, 3.5};
    for (const double x : xs) {
      for (const double y : ys) {
        for (const double z : zs) {
          if ((dimensions < 3 && z != 2) || (dimensions < 2 && y != 0.5)) continue;
          const std::string at = std::to_string(x) + (dimensions > 1 ? ", " + std::to_string(y) : "") +
                                 (dimensions > 2 ? ", " + std::to_string(z) : "");
          points += (points.empty() ? "" : ", ") + ("{at: [" + at + "]}");
          places.push_back({x, y, z});
        }
      }
    }
    const std::string yaml = "{variables: [t, level], point: [" + points + "]}";
    const Table first = table_of(run_tree(probe_kind(), yaml, world));
    REQUIRE(first.rows() == places.size());
    const auto column = [&](const std::string& name) {
      for (const Column& c : first.columns()) {
        if (c.name == name) return std::get<std::vector<double>>(c.values);
      }
      throw std::runtime_error("no column " + name);
    };
    const auto t = column("t"), level = column("level_0");
    for (std::size_t n = 0; n < places.size(); ++n) {
      const auto leaf = leaf_at(world, places[n]);
      CHECK(std::isnan(level[n]) == !leaf.has_value());
      if (!leaf) continue;
      CHECK(level[n] == leaf->level);
      CHECK((t[n] == world.value(*leaf) || (std::isnan(t[n]) && std::isnan(world.value(*leaf)))));
    }
    for (const std::size_t blocks : ends_of({2, 3, 5, 8})) {
      CHECK(same_bits(table_of(run_tree(probe_kind(), yaml, world, blocks)), first));
    }
    if (dimensions > 1) CHECK(same_bits(table_of(run_patches(probe_kind(), yaml, world)), first));
  }
}

TEST_CASE("resampling to the finest level is the tree's values, to others and any grid what is in the middles") {
  MpiCommunicator all(test_ranks());
  for (const int dimensions : {1, 2, 3}) {
    CAPTURE(dimensions);
    const World world = world_of(dimensions);
    const FakeDomain uniform = finest(world);
    const DataSet data = data_of(run_tree(resample_kind(), "{variables: t, level: 4}", world, 3));
    const std::vector<double> values = reals_of(data, "t");
    const Box& cells = uniform.mesh().cells;
    REQUIRE(static_cast<Index>(values.size()) == cells.count());
    bool right = true;
    std::size_t n = 0;
    for (Index k = 0; k < cells.hi[2]; ++k) {
      for (Index j = 0; j < cells.hi[1]; ++j) {
        for (Index i = 0; i < cells.hi[0]; ++i, ++n) {
          const double expected = uniform.value(0, {i, j, k}, 0);
          right &= values[n] == expected || (std::isnan(values[n]) && std::isnan(expected));
        }
      }
    }
    CHECK(right);
    const std::string size = dimensions == 1 ? "[50]" : dimensions == 2 ? "[13, 50]" : "[13, 7, 9]";
    for (const std::string yaml : {"{variables: [t, level], level: 2}", "{variables: [t, level], level: 6}"}) {
      if (yaml.find('6') != std::string::npos && dimensions == 3) continue;
      const DataSet expected = data_of(run_tree(resample_kind(), yaml, world));
      CHECK(same_bits(data_of(run_tree(resample_kind(), yaml, world, 5)), expected));
    }
    const std::string yaml = "{variables: [t, level], size: " + size + "}";
    const DataSet expected = data_of(run_tree(resample_kind(), yaml, world));
    if (dimensions > 1) CHECK(same_bits(data_of(run_patches(resample_kind(), yaml, world)), expected));
    for (const std::size_t blocks : ends_of({2, 3, 5, 8})) {
      CHECK(same_bits(data_of(run_tree(resample_kind(), yaml, world, blocks)), expected));
      const Trees trees(world, blocks);
      const auto results = run_lists(resample_kind(), yaml, trees.domain, trees.blocks, all, 2);
      if (all.size() == 1) CHECK(same_bits(data_of(results), expected));
    }
  }
}

TEST_CASE("a region of a level has whole cells of it") {
  const World world = world_of(3);
  const auto region = [&](const std::string& corners) {
    return data_of(run_tree(resample_kind(), "{variables: level, level: 2, " + corners + "}", world));
  };
  const DataSet all = region("low: [-1, 0.5, 2], high: [3, 1.5, 3.5]");
  CHECK(array_of(all, "level_0").extents == std::vector<Index>{4, 4, 8});
  // Cells have sides of 0.5, 0.25 and 0.375. A corner of the region on a border meets no cell beyond it.
  const DataSet some = region("low: [0, 0.6, 2.375], high: [1, 0.9, 2.75]");
  CHECK(array_of(some, "level_0").extents == std::vector<Index>{1, 2, 2});
  CHECK(reals_of(some, "x") == std::vector<double>{0.25, 0.75});
  CHECK(reals_of(some, "y") == std::vector<double>{0.625, 0.875});
  const std::vector<double> whole = reals_of(all, "level_0"), part = reals_of(some, "level_0");
  for (std::size_t j = 0; j < 2; ++j) {
    for (std::size_t i = 0; i < 2; ++i) CHECK(part[2 * j + i] == whole[(1 * 4 + j) * 8 + i + 2]);
  }
  CHECK_THROWS_WITH_AS(static_cast<void>(region("low: [-2, 0.6, 2.375], high: [1, 0.9, 2.75]")),
                       doctest::Contains("outside of mesh 'm' along x"), Error);
}

TEST_CASE("statistics and histograms of chosen levels and boxes count what a recursion finds") {
  for (const int dimensions : {1, 2, 3}) {
    const World world = world_of(dimensions);
    const std::string box = dimensions == 1   ? "[0, 2.5]"
                            : dimensions == 2 ? "[0, 0.75, 2.5, 2]"
                                              : "[0, 0.75, 2.2, 2.5, 2, 3]";
    const auto in_box = [&](const TreeCell& leaf) {
      const double low[] = {0, 0.75, 2.2}, high[] = {2.5, 2, 3};
      bool in = true;
      for (int a = 0; a < dimensions; ++a) {
        const auto d = static_cast<std::size_t>(a);
        const double x = 0.5 * (world.corner(leaf, 0)[d] + world.corner(leaf, 7)[d]);
        in = in && low[a] <= x && x < high[a];
      }
      return in;
    };
    for (const auto& [option, choose] :
         {std::pair<std::string, std::function<bool(const TreeCell&)>>{"levels: 2",
                                                                       [](const TreeCell& c) { return c.level == 2; }},
          {"levels: [1, 3]", [](const TreeCell& c) { return c.level >= 1 && c.level <= 3; }},
          {"box: " + box, in_box},
          {"levels: [2, 9], box: " + box, [&](const TreeCell& c) { return c.level >= 2 && in_box(c); }}}) {
      CAPTURE(option);
      std::int64_t count = 0, none = 0;
      double sum = 0;
      world.for_each_leaf([&](const TreeCell& leaf) {
        if (!choose(leaf)) return;
        std::isnan(world.value(leaf)) ? ++none : ++count;
        if (!std::isnan(world.value(leaf))) sum += world.value(leaf);
      });
      if (dimensions > 1) REQUIRE(count > 0);
      const std::string yaml = "{variable: t, " + option + "}";
      const Table first = table_of(run_tree(statistics_kind(), yaml, world));
      CHECK(std::get<std::vector<std::int64_t>>(first.columns()[1].values) == std::vector{count});
      CHECK(std::get<std::vector<std::int64_t>>(first.columns()[2].values) == std::vector{none});
      CHECK(std::get<std::vector<double>>(first.columns()[6].values)[0] == doctest::Approx(sum));
      const Table bins = table_of(run_tree(histogram_kind(), yaml, world, 3));
      std::int64_t counted = 0;
      for (const std::int64_t n : std::get<std::vector<std::int64_t>>(bins.columns()[3].values)) counted += n;
      CHECK(counted == count);
      for (const std::size_t blocks : ends_of({2, 5, 8})) {
        CHECK(same_bits(table_of(run_tree(statistics_kind(), yaml, world, blocks)), first));
      }
      if (dimensions == 1) continue;
      if (option.find('9') == std::string::npos || dimensions > 1) {
        CHECK(same_bits(table_of(run_patches(statistics_kind(), yaml, world)), first));
        CHECK(same_bits(table_of(run_patches(histogram_kind(), yaml, world)), bins));
      }
    }
  }
}

TEST_CASE("blocks without wanted cells are not needed if their bounds are known") {
  const World world = world_of(3);
  const Trees trees(world, 1);
  const auto needed = [&](const AnalysisKind& kind, const std::string& yaml, const Bounds& bounds) {
    const auto analysis = kind.create(fake_settings(kind, yaml, trees.domain.metadata), trees.domain.metadata);
    const Selection selection = analysis->selection();
    REQUIRE(selection.variables.at(0).part.kind == Part::Kind::predicate);
    BlockSummary summary;
    summary.block.space = IndexSpace::list;
    summary.low = bounds.low;
    summary.high = bounds.high;
    return selection.variables.at(0).part.predicate.needed(summary);
  };
  const Bounds left{{-1, 0.5, 2}, {0, 1.5, 3.5}}, unknown{{-Bounds::infinity, -Bounds::infinity, -Bounds::infinity},
                                                          {Bounds::infinity, Bounds::infinity, Bounds::infinity}};
  for (const auto& [x, in] : {std::pair{-0.5, true}, {0.0, true}, {0.5, false}}) {
    const std::string at = std::to_string(x);
    CHECK(needed(slice_kind(), "{variable: t, axis: x, position: " + at + "}", left) == in);
    CHECK(needed(slice_kind(), "{variable: t, axis: x, position: " + at + "}", unknown));
    CHECK(needed(probe_kind(), "{variables: t, point: {at: [" + at + ", 1, 3]}}", left) == in);
    CHECK(needed(probe_kind(), "{variables: t, point: {at: [" + at + ", 1, 3]}}", unknown));
    CHECK(needed(statistics_kind(), "{variable: t, box: [" + at + ", 0, 0, 9, 9, 9]}", left) == in);
    CHECK(needed(histogram_kind(), "{variable: t, box: [" + at + ", 0, 0, 9, 9, 9]}", unknown));
  }
  CHECK(needed(statistics_kind(), "{variable: t, levels: 3}", left));
}

TEST_CASE("what cannot be done with trees is refused with a sentence") {
  const World world = world_of(3);
  const auto refused = [&](const AnalysisKind& kind, const std::string& yaml, const char* why) {
    CAPTURE(yaml);
    CHECK_THROWS_WITH_AS(static_cast<void>(run_tree(kind, yaml, world)), doctest::Contains(why), Error);
  };
  refused(projection_kind(), "{variable: t, axis: x}", "nothing declares how deep it becomes");
  refused(projection_kind(), "{variable: t, axis: x, level: 31}", "more than 2^31 cells");
  refused(resample_kind(), "{variables: t, size: [2, 2, 2], level: 1}", "leave out one of both");
  refused(resample_kind(), "{variables: t}", "found 0 numbers, expected 3");
}
