// Trees and patches whose values make many halos, and the same fields on the finest level.
#pragma once

#include <cmath>
#include <limits>

#include "modules/cosmology/halo_checks.hpp"
#include "support/level_cases.hpp"

namespace sidestream::testing {

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Few distinct values, so that there are ties and plateaus; some are NaN.
inline double value_of(const TreeCell& cell, std::uint64_t seed) {
  const double value = std::floor(8 * random_of(cell, seed));
  return value == 2 && cell.level > 0 ? not_a_number : value;
}

inline TreeWorld tree_of(int dimensions, std::uint64_t seed, std::int32_t deepest) {
  TreeWorld world = random_world(dimensions, seed, deepest);
  world.value = [seed](const TreeCell& cell, auto&) { return value_of(cell, seed + 1); };
  return world;
}

/// A tree of one root cell of side 2, with the value 7.
inline TreeWorld one_root_cell() {
  TreeWorld world;
  world.refined = [](const TreeCell&) { return false; };
  world.value = [](const TreeCell&, auto&) { return 7.0; };
  world.owner = [](const TreeCell&, std::size_t) { return std::size_t{0}; };
  world.spacing = {2, 2, 2};
  return world;
}

inline CapturedResults run(const TreeWorld& world, std::array<bool, 3> periodic, std::size_t blocks,
                           const std::string& yaml, Communicator& servers, std::size_t partials = 1) {
  TreeBlocks tree(world, blocks);
  tree.domain.metadata.meshes[0].periodic = periodic;
  return run_lists(halos_kind(), yaml, tree.domain, tree.blocks, servers, partials);
}

/// Gives the leaf that covers a cell of the finest level, and its value. `resampled` is the same field on that level
/// only.
using LeafAt = std::function<std::pair<TreeCell, double>(const Index3&)>;
inline FakeDomain resampled(const Box& cells, const std::array<double, 3>& origin, const std::array<double, 3>& spacing,
                            int dimensions, std::array<bool, 3> along, const LeafAt& leaf) {
  return periodic(FakeDomain(cells, std::make_shared<UniformGeometry>(origin, spacing),
                             {{"t", [leaf](auto&, const Index3& p, int) { return leaf(p).second; }}}, dimensions),
                  along);
}

inline FakeDomain resampled(const TreeWorld& world, std::int32_t deepest, std::array<bool, 3> along, LeafAt& leaf) {
  leaf = [world, deepest](const Index3& p) {
    TreeCell cell{0, p};
    for (std::int32_t level = 0;; ++level) {
      cell.level = level;
      for (int a = 0; a < world.dimensions; ++a)
        cell.index[static_cast<std::size_t>(a)] = p[static_cast<std::size_t>(a)] >> (deepest - level);
      if (level == deepest || !world.refined(cell)) return std::pair{cell, world.value(cell, world.centre(cell))};
    }
  };
  Box cells{{0, 0, 0}, world.roots};
  std::array<double, 3> spacing = world.spacing;
  for (int a = 0; a < world.dimensions; ++a) {
    cells.hi[static_cast<std::size_t>(a)] <<= deepest;
    spacing[static_cast<std::size_t>(a)] /= std::exp2(deepest);
  }
  return resampled(cells, world.origin, spacing, world.dimensions, along, leaf);
}

/// The same for patches, whose finest level is 2.
inline FakeDomain resampled(const PatchWorld& world, LeafAt& leaf) {
  const Mesh mesh = world.metadata().meshes[0];
  std::array<double, 3> spacing = world.spacing;
  for (std::size_t a = 0; a < 3; ++a) spacing[a] /= static_cast<double>(mesh.ratio_to(2)[a]);
  leaf = [world, mesh](const Index3& p) {
    for (std::int32_t level = 2;; --level) {
      TreeCell cell{level, p};
      for (std::size_t a = 0; a < 3; ++a) cell.index[a] /= mesh.ratio_to(2)[a] / mesh.ratio_to(level)[a];
      for (const auto& [on, box] : world.patches) {
        if (on == level && box.contains(cell.index)) return std::pair{cell, world.value(cell, {})};
      }
    }
  };
  return resampled(mesh.cells_on(2), world.origin, spacing, world.dimensions, world.periodic, leaf);
}

/// The same patches, each cut in two.
inline PatchWorld halved(const PatchWorld& world) {
  PatchWorld halves = world;
  halves.patches.clear();
  for (const auto& [level, box] : world.patches) {
    Box low = box, high = box;
    low.hi[0] = high.lo[0] = box.lo[0] + box.extent(0) / 3;
    halves.patches.insert(halves.patches.begin(), {level, high});
    halves.patches.push_back({level, low});
  }
  return halves;
}

}  // namespace sidestream::testing
