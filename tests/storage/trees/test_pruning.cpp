// Pruned trees, compared with a search along each cell's path, on random forests that are cut into domains.
#include <doctest/doctest.h>

#include <set>

#include "storage/trees/random_tree.hpp"
#include "storage/trees/structure.hpp"

using namespace sidestream;
using sidestream::testing::Forest;
using sidestream::testing::Way;
using sidestream::testing::WayTree;

namespace {

/// The paths of the cells that stay, in their order.
std::vector<Way> kept_ways(const WayTree& tree, const PrunedTree& less) {
  std::vector<Way> ways;
  for (const CellRun& run : less.kept) {
    for (Index n = run.first; n < run.first + run.count; ++n) ways.push_back(tree.ways[static_cast<std::size_t>(n)]);
  }
  return ways;
}

/// Prunes by definition, from the roots down: the children of a cell stay if the cell stays and an owned leaf is below
/// it.
WayTree expected(const WayTree& tree, int dimensions) {
  std::set<Way> with_owned;
  for (std::size_t n = 0; n < tree.ways.size(); ++n) {
    if (tree.refined[n] != 0 || tree.owned[n] == 0) continue;
    for (Way way = tree.ways[n]; !way.empty(); way.pop_back()) with_owned.insert(way);
  }
  std::map<Way, std::size_t> place;
  for (std::size_t n = 0; n < tree.ways.size(); ++n) place[tree.ways[n]] = n;
  WayTree less;
  for (const Way& way : tree.ways) {
    if (way.size() == 1) less.ways.push_back(way);
  }
  for (std::size_t n = 0; n < less.ways.size(); ++n) {
    const Way way = less.ways[n];
    const std::size_t was = place.at(way);
    const bool stays = tree.refined[was] != 0 && with_owned.contains(way);
    less.refined.push_back(stays ? 1 : 0);
    less.owned.push_back(tree.refined[was] != 0 && !stays ? std::uint8_t{0} : tree.owned[was]);
    for (int child = 0; stays && child < 1 << dimensions; ++child) {
      Way below = way;
      below.push_back(child);
      less.ways.push_back(std::move(below));
    }
  }
  return less;
}

void check(const Forest& forest, std::mt19937& random) {
  std::multiset<Way> owned_leaves;
  for (int domain = 0; domain < forest.domains; ++domain) {
    const WayTree tree = forest.published(random, domain);
    const auto starts = tree_starts(forest.shape, tree.refined);
    REQUIRE(starts.has_value());
    const PrunedTree less = pruned(forest.shape, tree.refined, tree.owned, *starts);
    const WayTree twin = expected(tree, forest.shape.dimensions);
    REQUIRE(kept_ways(tree, less) == twin.ways);
    REQUIRE(less.refined == twin.refined);
    REQUIRE(less.owned == twin.owned);
    const auto again = tree_starts(forest.shape, less.refined);
    REQUIRE(again.has_value());
    const PrunedTree same = pruned(forest.shape, less.refined, less.owned, *again);
    REQUIRE(same.refined == less.refined);
    for (std::size_t n = 0; n < twin.ways.size(); ++n) {
      if (less.refined[n] == 0 && less.owned[n] != 0) owned_leaves.insert(twin.ways[n]);
    }
  }
  // All domains together have each leaf of the forest once.
  std::multiset<Way> leaves;
  for (const auto& [way, domain] : forest.domain) leaves.insert(way);
  REQUIRE(owned_leaves == leaves);
}

}  // namespace

TEST_CASE("pruned domains are what leads to owned leaves, and together the owned tree") {
  std::mt19937 random(20200519);
  for (int n = 0; n < 400; ++n) {
    const int dimensions = 1 + n % 3;
    const Index roots = 1 + static_cast<Index>(random() % 4);
    const int domains = 1 + static_cast<int>(random() % 5),
              depth = static_cast<int>(random() % (8u / unsigned(dimensions) + 1));
    CAPTURE(n);
    check(Forest(random, dimensions, roots, domains, depth, 0.2 + 0.1 * static_cast<double>(random() % 6)), random);
  }
}

TEST_CASE("the domain of the paper's figure") {
  // The tree of domain 1 in figure 2 of Strafella and Chapon, as it is stored there.
  const std::vector<std::uint8_t> refined{1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<std::uint8_t> owned{0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0};
  const TreeShape shape{2, 1};
  const auto starts = tree_starts(shape, refined);
  REQUIRE(starts.has_value());
  CHECK(*starts == std::vector<Index>{0, 1, 5, 17});
  // Only the second of the three cells that are refined again has leaves of its own. The ghosts below the others are
  // removed.
  const PrunedTree less = pruned(shape, refined, owned, *starts);
  CHECK(less.refined == std::vector<std::uint8_t>{1, 0, 1, 0, 0, 0, 0, 0, 0});
  CHECK(less.owned == std::vector<std::uint8_t>{0, 0, 0, 1, 0, 0, 1, 1, 1});
}

TEST_CASE("nothing goes where all is owned, and all but the roots where nothing is") {
  const std::vector<std::uint8_t> refined{1, 0, 0, 1, 0, 0};
  const TreeShape shape{1, 2};
  const auto starts = tree_starts(shape, refined);
  REQUIRE(starts.has_value());
  CHECK(pruned(shape, refined, {}, *starts).cells() == 6);
  const PrunedTree roots = pruned(shape, refined, std::vector<std::uint8_t>(6, 0), *starts);
  CHECK(roots.refined == std::vector<std::uint8_t>{0, 0});
  CHECK(roots.kept.size() == 1);
  CHECK(pruned(shape, {}, {}, std::vector<Index>{0}).cells() == 0);
}
