// Interpolation between the centres of cells on several levels of trees, compared with the definition at each position.
// Results have the same bytes for every division.
#include <doctest/doctest.h>

#include <cmath>

#include "modules/visualisation/tree_patches.hpp"
#include "modules/visualisation/tree_runs.hpp"
#include "support/grid_checks.hpp"
#include "support/ranks.hpp"
#include "support/test_all.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// The mean of the tree over a cell of a level: of the leaves in it, or the value of the leaf that it lies in.
double mean_over(const World& world, const TreeCell& cell) {
  double sum = 0;
  world.for_each_leaf([&](const TreeCell& leaf) {
    const int finer = leaf.level - cell.level;
    bool in = true;
    for (std::size_t a = 0; a < static_cast<std::size_t>(world.dimensions); ++a) {
      in = in && (finer >= 0 ? leaf.index[a] >> finer == cell.index[a] : cell.index[a] >> -finer == leaf.index[a]);
    }
    if (in) sum += world.value(leaf) * std::exp2(-world.dimensions * std::max(0, finer));
  });
  return sum;
}

/// Interpolates between the centres of cells of the same level as the leaf at the position.
double linear_at(const World& world, const std::array<double, 3>& x) {
  const TreeCell leaf = leaf_at(world, x).value();
  std::vector<std::pair<TreeCell, double>> cells{{leaf, 1}};
  for (int a = 0; a < world.dimensions; ++a) {
    const auto d = static_cast<std::size_t>(a);
    const double u = (x[d] - world.origin[d]) / world.spacing[d] * std::exp2(leaf.level) - 0.5;
    const auto lower = static_cast<Index>(std::floor(u));
    const bool inside = lower >= 0 && lower + 1 < world.roots[d] << leaf.level;
    std::vector<std::pair<TreeCell, double>> more;
    for (const auto& [cell, weight] : cells) {
      for (const Index side : {Index{0}, Index{1}}) {
        if (!inside && side == 1) continue;
        more.emplace_back(cell, weight);
        if (!inside) continue;
        more.back().first.index[d] = lower + side;
        const double t = u - static_cast<double>(lower);
        more.back().second *= side == 1 ? t : 1 - t;
      }
    }
    cells = std::move(more);
  }
  double sum = 0;
  for (const auto& [cell, weight] : cells) sum += weight == 0 ? 0 : weight * mean_over(world, cell);
  return sum;
}

}  // namespace

TEST_CASE("between centres of cells of several levels places get their means, in every division") {
  MpiCommunicator all(test_ranks());
  for (const int dimensions : {1, 2, 3}) {
    CAPTURE(dimensions);
    const World world = finite_world(dimensions);
    const std::string size = dimensions == 1 ? "[41]" : dimensions == 2 ? "[13, 11]" : "[9, 5, 7]";
    const std::string yaml = "{variables: [t, level], method: linear, size: " + size + "}";
    const DataSet data = data_of(run_tree(resample_kind(), yaml, world));
    const std::vector<double> values = reals_of(data, "t");
    std::vector<std::vector<double>> axes;
    for (int a = 0; a < 3; ++a) {
      axes.push_back(a < dimensions ? reals_of(data, std::string(1, "xyz"[a])) : std::vector<double>{0});
    }
    std::size_t n = 0;
    int levels_met = 0;
    for (const double z : axes[2]) {
      for (const double y : axes[1]) {
        for (const double x : axes[0]) {
          const double expected = linear_at(world, {x, y, z});
          CHECK(values[n] == doctest::Approx(expected).epsilon(1e-12));
          levels_met += world.value(leaf_at(world, {x, y, z}).value()) != values[n] ? 1 : 0;
          ++n;
        }
      }
    }
    CHECK(levels_met > 10);
    if (dimensions > 1) CHECK(same_bits(data_of(run_patches(resample_kind(), yaml, world)), data));
    const std::string line = dimensions == 1   ? "from: [-0.9], to: [5]"
                             : dimensions == 2 ? "from: [-0.9, 0.6], to: [2.9, 3.4]"
                                               : "from: [-0.9, 0.6, 2.1], to: [2.9, 1.4, 3.4]";
    const std::string probe = "{variables: [t, level], cells: linear, line: {samples: 30, " + line + "}}";
    const Table first = table_of(run_tree(probe_kind(), probe, world));
    for (const std::size_t blocks : ends_of({2, 3, 5, 8})) {
      CHECK(same_bits(data_of(run_tree(resample_kind(), yaml, world, blocks)), data));
      CHECK(same_bits(table_of(run_tree(probe_kind(), probe, world, blocks)), first));
      const Trees trees(world, blocks);
      const auto results = run_lists(probe_kind(), probe, trees.domain, trees.blocks, all, 2);
      if (all.rank() == 0) CHECK(same_bits(table_of(results), first));
    }
  }
}

TEST_CASE("blocks need to be near places to which their cells give something: a cell and a half of the coarsest") {
  const World world = world_of(3);
  const Trees trees(world, 1);
  const auto needed = [&](const std::string& cells, double x) {
    const std::string yaml = "{variables: t, " + cells + "point: {at: [" + std::to_string(x) + ", 1, 3]}}";
    const auto analysis =
        probe_kind().create(fake_settings(probe_kind(), yaml, trees.domain.metadata), trees.domain.metadata);
    BlockSummary summary;
    summary.block.space = IndexSpace::list;
    summary.low = {-1, 0.5, 2};
    summary.high = {-0.75, 1.5, 3.5};  // root cells are 2 wide
    return analysis->selection().variables.at(0).part.predicate.needed(summary);
  };
  CHECK(needed("cells: linear, ", -0.8));
  CHECK(needed("cells: linear, ", 2));  // the middle of the other root cell
  CHECK(!needed("cells: linear, ", 2.5));
  CHECK(needed("", -0.8));
  CHECK(!needed("", 0));
}

TEST_CASE("next to a cell that is NaN, or was not delivered, a cell has its own value") {
  const World world = world_of(2);  // with NaN in it
  const std::string grid = ", size: [40, 40]}";
  const auto linear = reals_of(data_of(run_tree(resample_kind(), "{variables: t, method: linear" + grid, world)), "t");
  const auto own = reals_of(data_of(run_tree(resample_kind(), "{variables: t" + grid, world)), "t");
  int same = 0;
  for (std::size_t n = 0; n < own.size(); ++n) {
    CHECK(std::isnan(linear[n]) == std::isnan(own[n]));
    same += linear[n] == own[n] ? 1 : 0;
  }
  CHECK(same > 0);
  Trees trees(world_of(2), 2);
  for (auto& [name, values] : trees.blocks[1].values) values = std::vector<std::uint8_t>();
  trees.blocks[1].values["t"] = trees.blocks[1].values["level"] = std::vector<double>();
  trees.blocks[1].cells = 0;
  MpiCommunicator self(MPI_COMM_SELF);
  const auto part = reals_of(
      data_of(run_lists(resample_kind(), "{variables: t, method: linear" + grid, trees.domain, trees.blocks, self)),
      "t");
  int there = 0, alone = 0;
  for (std::size_t n = 0; n < own.size(); ++n) {
    there += std::isnan(part[n]) ? 0 : 1;
    if (!std::isnan(part[n]) && part[n] != linear[n]) {
      CHECK(part[n] == own[n]);
      ++alone;
    }
  }
  CHECK(there > 0);
  CHECK(alone > 0);
}
