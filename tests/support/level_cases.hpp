// Trees and patches with surfaces in them.
#pragma once

#include <cmath>
#include <string>

#include "sidestream/kit/base/hash.hpp"
#include "support/level_worlds.hpp"

namespace sidestream::testing {

inline double random_of(const TreeCell& cell, std::uint64_t seed) {
  std::uint64_t bits = mixed_bits(seed + static_cast<std::uint64_t>(cell.level));
  for (const Index i : cell.index) bits = mixed_bits(bits ^ static_cast<std::uint64_t>(i));
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

inline std::size_t scattered(const TreeCell& cell, std::size_t blocks) {
  return static_cast<std::size_t>(random_of(cell, 77) * static_cast<double>(blocks));
}

/// A random tree, in which neighbours may differ by several levels.
inline TreeWorld random_world(int dimensions, std::uint64_t seed, std::int32_t deepest) {
  TreeWorld world;
  world.dimensions = dimensions;
  world.roots = dimensions == 3 ? Index3{3, 2, 2} : Index3{3, 5, 1};
  world.origin = {-1, 0.5, dimensions == 3 ? 2.0 : 0.0};
  world.spacing = {2, 1, 1.5};
  world.refined = [=](const TreeCell& c) {
    return c.level < deepest && random_of(c, seed) < (c.level == 0 ? 0.7 : 0.42);
  };
  world.value = [world, seed](const TreeCell& c, const std::array<double, 3>&) {
    return world.at_face(c) ? 0 : random_of(c, seed + 1);
  };
  world.owner = scattered;
  return world;
}

/// A ball round the middle of the unit cube, refined near its surface as far as `deepest`.
inline TreeWorld ball_world(int dimensions, std::int32_t coarsest, std::int32_t deepest) {
  TreeWorld world;
  world.dimensions = dimensions;
  const auto distance = [dimensions](const std::array<double, 3>& x) {
    double squares = 0;
    for (int a = 0; a < dimensions; ++a)
      squares += (x[static_cast<std::size_t>(a)] - 0.5) * (x[static_cast<std::size_t>(a)] - 0.5);
    return std::sqrt(squares);
  };
  world.refined = [=](const TreeCell& c) {
    if (c.level < coarsest || c.level >= deepest) return c.level < coarsest;
    const bool side = c.index[0] * 2 < Index{1} << c.level;  // one half of the surface is coarse
    return side && std::abs(distance(world.centre(c)) - 0.3) < 1.2 / std::exp2(c.level);
  };
  world.value = [=](const TreeCell&, const std::array<double, 3>& x) { return 0.3 - distance(x); };
  world.owner = scattered;
  return world;
}

/// A coarse level and two finer ones with different ratios, each in several blocks. Patches of a level have a gap
/// between them.
inline PatchWorld patch_world(int dimensions) {
  PatchWorld world;
  world.dimensions = dimensions;
  const Index depth = dimensions == 3 ? 12 : 1;
  world.cells = {{0, 0, 0}, {14, 12, depth}};
  world.spacing = {1.0 / 14, 1.0 / 12, 1.0 / 12};
  const Index z = dimensions == 3 ? 2 : 1;
  world.refinement = {{2, 3, z}, {3, 2, dimensions == 3 ? 4 : 1}};
  const auto box = [&](Index i0, Index j0, Index k0, Index i1, Index j1, Index k1, const Index3& ratio) {
    Box b{{i0 * ratio[0], j0 * ratio[1], k0 * ratio[2]}, {i1 * ratio[0], j1 * ratio[1], k1 * ratio[2]}};
    if (dimensions == 2) b.lo[2] = 0, b.hi[2] = 1;
    return b;
  };
  const Index3 one{1, 1, 1}, two = world.refinement[0];
  world.patches = {{0, box(0, 0, 0, 5, 12, 12, one)},
                   {0, box(5, 0, 0, 14, 7, 12, one)},
                   {0, box(5, 7, 0, 14, 12, 12, one)},
                   {1, box(2, 2, 2, 7, 9, 6, two)},
                   {1, box(2, 2, 6, 7, 9, 10, two)},
                   {1, box(7, 3, 3, 11, 8, 8, two)},
                   {2, box(8, 12, 6, 13, 20, 10, world.refinement[1])}};
  if (dimensions == 2) world.patches.erase(world.patches.begin() + 4);
  world.value = [dimensions](const TreeCell&, const std::array<double, 3>& x) {
    double squares = 0;
    for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) squares += (x[a] - 0.5) * (x[a] - 0.5);
    return 0.3 - std::sqrt(squares);
  };
  return world;
}

inline PatchWorld random_patches(int dimensions, std::uint64_t seed) {
  PatchWorld world = patch_world(dimensions);
  const Metadata metadata = world.metadata();
  world.value = [mesh = metadata.meshes[0], dimensions, seed](const TreeCell& c, const std::array<double, 3>&) {
    const Box all = mesh.cells_on(c.level);
    for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
      if (c.index[a] == all.lo[a] || c.index[a] + 1 == all.hi[a]) return 0.0;
    }
    return random_of(c, seed);
  };
  return world;
}

}  // namespace sidestream::testing
