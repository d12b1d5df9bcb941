// Helpers to run analyses on trees, and to look up leaves.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string>

#include "modules/visualisation/tree_world.hpp"

namespace sidestream::testing {

constexpr int deepest = 4;  ///< of World's rule

inline CapturedResults run_tree(const AnalysisKind& kind, const std::string& yaml, const World& world,
                                std::size_t blocks = 1) {
  MpiCommunicator self(MPI_COMM_SELF);
  const Trees trees(world, blocks);
  return run_lists(kind, yaml, trees.domain, trees.blocks, self, 2);
}
inline DataSet data_of(const CapturedResults& results) {
  REQUIRE(results.data_sets.size() == 1);
  return results.data_sets.begin()->second;
}
inline Table table_of(const CapturedResults& results) {
  REQUIRE(results.tables.size() == 1);
  return results.tables.begin()->second;
}

/// The leaf at a position. The upper faces of the mesh belong to its last cells.
inline std::optional<TreeCell> leaf_at(const World& world, const std::array<double, 3>& x) {
  std::optional<TreeCell> found;
  world.for_each_leaf([&](const TreeCell& leaf) {
    const auto low = world.corner(leaf, 0), high = world.corner(leaf, 7);
    bool in = true;
    for (int a = 0; a < world.dimensions; ++a) {
      const auto d = static_cast<std::size_t>(a);
      const double end = world.origin[d] + world.spacing[d] * static_cast<double>(world.roots[d]);
      in = in && low[d] <= x[d] && (x[d] < high[d] || (x[d] == high[d] && high[d] == end));
    }
    if (in) found = leaf;
  });
  return found;
}

/// A world without NaN, for tests that compare sums as numbers.
inline World finite_world(int dimensions) {
  World world = world_of(dimensions);
  world.with_nan = false;
  return world;
}

}  // namespace sidestream::testing
