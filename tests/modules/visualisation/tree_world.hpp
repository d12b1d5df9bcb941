// A tree with values by a rule, and the trees of blocks that own its leaves between them.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "sidestream/kit/data/octree.hpp"
#include "support/list_blocks.hpp"

namespace sidestream::testing {

/// A tree over the whole mesh, and which block owns each leaf. The trees of blocks are cut from it.
struct World {
  int dimensions = 3;
  Index3 roots{2, 1, 1};
  std::array<double, 3> origin{-1, 0.5, 2}, spacing{2, 1, 1.5};
  std::function<bool(const TreeCell&)> refined = [](const TreeCell& c) {
    return c.level < 4 && (3 * c.index[0] + 5 * c.index[1] + 7 * c.index[2] + c.level) % (c.level + 2) == 0;
  };

  bool with_nan = true;  ///< true if some values are NaN

  [[nodiscard]] std::vector<TreeCell> root_cells() const {
    std::vector<TreeCell> all;
    for (Index k = 0; k < roots[2]; ++k) {
      for (Index j = 0; j < roots[1]; ++j) {
        for (Index i = 0; i < roots[0]; ++i) all.push_back({0, {i, j, k}});
      }
    }
    return all;
  }
  [[nodiscard]] std::vector<TreeCell> children(const TreeCell& of) const {
    std::vector<TreeCell> all;
    for (int z = 0; z < (dimensions > 2 ? 2 : 1); ++z) {
      for (int y = 0; y < (dimensions > 1 ? 2 : 1); ++y) {
        for (int x = 0; x < 2; ++x) {
          all.push_back({of.level + 1,
                         {2 * of.index[0] + x, (dimensions > 1 ? 2 : 1) * of.index[1] + y,
                          (dimensions > 2 ? 2 : 1) * of.index[2] + z}});
        }
      }
    }
    return all;
  }
  [[nodiscard]] std::array<double, 3> corner(const TreeCell& cell, int corner) const {
    std::array<double, 3> x{0, 0, 0};
    for (int a = 0; a < dimensions; ++a) {
      const auto d = static_cast<std::size_t>(a);
      x[d] = origin[d] + spacing[d] * (static_cast<double>(cell.index[d] + (corner >> a & 1)) / std::exp2(cell.level));
    }
    return x;
  }
  [[nodiscard]] double value(const TreeCell& cell) const {
    const std::array<double, 3> x = corner(cell, 0);
    if (with_nan && cell.index[0] % 11 == 5) return std::numeric_limits<double>::quiet_NaN();
    return std::sin(3 * x[0] + x[1]) + 0.25 * x[2] + 0.1 * cell.level;
  }
  [[nodiscard]] std::size_t owner(const TreeCell& cell, std::size_t blocks) const {
    return static_cast<std::size_t>(cell.index[0] * 7 + cell.index[1] * 3 + cell.index[2] + cell.level) % blocks;
  }
  void for_each_leaf(const TreeCell& below, const std::function<void(const TreeCell&)>& f) const {
    if (!refined(below)) return f(below);
    for (const TreeCell& child : children(below)) for_each_leaf(child, f);
  }
  void for_each_leaf(const std::function<void(const TreeCell&)>& f) const {
    for (const TreeCell& root : root_cells()) for_each_leaf(root, f);
  }
};

/// Trees of blocks. A block lists its leaves, their parents and the neighbours of these, but owns only its leaves. The
/// last block is empty.
struct Trees {
  ListDomain domain{MeshKind::points, 3};
  std::vector<ListBlock> blocks;

  Trees(const World& world, std::size_t count) {
    Mesh& mesh = domain.metadata.meshes[0];
    mesh.dimensions = world.dimensions;
    mesh.geometry = std::make_shared<OctreeGeometry>(world.roots, world.origin, world.spacing);
    domain.add("split", Type::uint8, 1, Centering::cell, Role::refined);
    domain.add("mine", Type::uint8, 1, Centering::cell, Role::owned);
    domain.add("t", Type::float64, 1, Centering::cell);
    domain.add("level", Type::float64, 2, Centering::cell);
    for (std::size_t block = 0; block < count; ++block) add(world, block, count);
    blocks.emplace_back();
    blocks.back().values = {{"split", std::vector<std::uint8_t>()},
                            {"mine", std::vector<std::uint8_t>()},
                            {"t", std::vector<double>()},
                            {"level", std::vector<double>()}};
  }

  void add(const World& world, std::size_t block, std::size_t count) {
    std::vector<std::uint8_t> split, mine;
    std::vector<double> t, level;
    const auto has_leaf = [&](const TreeCell& cell) {
      bool found = false;
      world.for_each_leaf(cell, [&](const TreeCell& leaf) { found |= world.owner(leaf, count) == block; });
      return found;
    };
    std::vector<TreeCell> cells = world.root_cells();
    for (std::size_t n = 0; n < cells.size(); ++n) {
      const TreeCell cell = cells[n];
      const bool refined = world.refined(cell) && has_leaf(cell);
      const bool own = !world.refined(cell) && world.owner(cell, count) == block;
      split.push_back(refined ? 1 : 0);
      mine.push_back(own ? 1 : 0);
      t.push_back(own ? world.value(cell) : 0.5);  // leaves of other blocks have a value that is in every range
      level.insert(level.end(), {static_cast<double>(cell.level), static_cast<double>(cell.index[0])});
      if (!refined) continue;
      for (const TreeCell& child : world.children(cell)) cells.push_back(child);
    }
    const auto length = static_cast<Index>(cells.size());
    blocks.push_back({length, 0, 0, {}});
    blocks.back().values = {{"split", split}, {"mine", mine}, {"t", t}, {"level", level}};
  }
};

inline World world_of(int dimensions) {
  World world;
  world.dimensions = dimensions;
  if (dimensions == 1) world.roots = {7, 1, 1};
  if (dimensions == 2) world.roots = {2, 3, 1};
  return world;
}

}  // namespace sidestream::testing
