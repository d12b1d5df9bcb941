// Neighbours of blocks on several levels, compared with a look at every pair.
#include "data/levels.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "sidestream/data/catalogue.hpp"

using namespace sidestream;

namespace {

/// Blocks on several levels, at random places, with ranges. Some were not delivered.
struct World {
  Mesh mesh{0, "m", {{0, 0, 0}, {8, 6, 5}}, 3, nullptr};
  std::vector<Block> blocks;
  std::vector<BlockRange> ranges;
  std::vector<const BlockRange*> of;

  void point_to_ranges(unsigned seed) {
    std::mt19937 random(seed);
    for (const Block& block : blocks) {
      BlockRange& range = ranges.emplace_back();
      range.block = block.id;
      const double low = static_cast<double>(random() % 100);
      range.all = {low, low + static_cast<double>(random() % 10)};
    }
    for (const BlockRange& range : ranges) of.push_back(random() % 7 == 0 ? nullptr : &range);
  }
  template <class Touch>
  void check(const Touch& touch) const {
    const std::vector<Range> found = ranges_with_touching(mesh, blocks, of);
    REQUIRE(found.size() == blocks.size());
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      Range expected;
      for (std::size_t n = 0; n < blocks.size() && of[b] != nullptr; ++n) {
        if (of[n] != nullptr && (n == b || touch(blocks[b], blocks[n]))) expected.add(of[n]->all);
      }
      CHECK(found[b] == expected);
    }
  }
};

template <class Work>
void for_each_index(const Box& box, const Work& work) {
  for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
    for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
      for (Index i = box.lo[0]; i < box.hi[0]; ++i) work(Index3{i, j, k});
    }
  }
}

/// Cells of one level; `size` is the size of each in cells of the finest level.
struct Leaves {
  std::vector<Index3> lowest;
  Index3 size;
};

/// Cells of a block that finer levels do not cover completely.
Leaves leaves_of(const World& world, const Block& block) {
  const Index3 finest = world.mesh.ratio_to(2);
  const auto size_on = [&](std::int32_t level, std::size_t a) { return finest[a] / world.mesh.ratio_to(level)[a]; };
  Leaves leaves{{}, {size_on(block.level, 0), size_on(block.level, 1), size_on(block.level, 2)}};
  const auto is_open = [&](const Index3& cell) {  // `cell` is on the finest level
    return std::none_of(world.blocks.begin(), world.blocks.end(), [&](const Block& other) {
      bool inside = other.level > block.level;
      for (std::size_t a = 0; a < 3; ++a) {
        const Index size = size_on(other.level, a);
        inside = inside && cell[a] >= other.cells.lo[a] * size && cell[a] < other.cells.hi[a] * size;
      }
      return inside;
    });
  };
  for_each_index(block.cells, [&](const Index3& cell) {
    const Index3 low{cell[0] * leaves.size[0], cell[1] * leaves.size[1], cell[2] * leaves.size[2]};
    bool open = false;
    for_each_index({low, {low[0] + leaves.size[0], low[1] + leaves.size[1], low[2] + leaves.size[2]}},
                   [&](const Index3& fine) { open = open || is_open(fine); });
    if (open) leaves.lowest.push_back(low);
  });
  return leaves;
}

bool share_a_point(const Leaves& some, const Leaves& others) {
  for (const Index3& one : some.lowest) {
    for (const Index3& other : others.lowest) {
      bool touch = true;
      for (std::size_t a = 0; a < 3; ++a) {
        touch = touch && one[a] <= other[a] + others.size[a] && other[a] <= one[a] + some.size[a];
      }
      if (touch) return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("patches: blocks of which leaves share a point, on any level, against every pair of leaves") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    World world;
    world.mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
    world.mesh.refinement = {{2, 3, 2}, {3, 2, 1}};
    for (std::int64_t id = 0; id < 30; ++id) {
      Block block;
      block.id = id;
      block.level = static_cast<std::int32_t>(random() % 3);
      const Box all = world.mesh.cells_on(block.level);
      for (std::size_t a = 0; a < 3; ++a) {
        block.cells.lo[a] = static_cast<Index>(random() % static_cast<unsigned>(all.hi[a]));
        block.cells.hi[a] = std::min<Index>(all.hi[a], block.cells.lo[a] + 1 + static_cast<Index>(random() % 4));
      }
      world.blocks.push_back(block);
    }
    world.point_to_ranges(seed);
    world.check(
        [&](const Block& a, const Block& b) { return share_a_point(leaves_of(world, a), leaves_of(world, b)); });
  }
}

TEST_CASE("patches: a coarse block meets finer ones with the rim that they leave of it") {
  World world;
  world.mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
  world.mesh.cells = {{0, 0, 0}, {12, 4, 1}};
  world.mesh.refinement = {{2, 2, 1}};
  const auto add = [&](std::int32_t level, const Box& cells, const Range& range) {
    Block block;
    block.id = static_cast<std::int64_t>(world.blocks.size());
    block.level = level;
    block.cells = cells;
    world.blocks.push_back(block);
    BlockRange& of = world.ranges.emplace_back();
    of.block = block.id;
    of.all = range;
  };
  add(0, {{0, 0, 0}, {12, 4, 1}}, {0, 1});  // covered except for its first two columns
  add(1, {{4, 0, 0}, {10, 8, 1}}, {2, 3});
  add(1, {{10, 0, 0}, {24, 8, 1}}, {4, 5});  // does not meet the uncovered part of the coarse one
  for (const BlockRange& range : world.ranges) world.of.push_back(&range);
  const std::vector<Range> found = ranges_with_touching(world.mesh, world.blocks, world.of);
  CHECK(found[0] == Range{0, 3});
  CHECK(found[1] == Range{0, 5});
  CHECK(found[2] == Range{2, 5});
}

TEST_CASE("trees: blocks whose bounds touch; without bounds a block may touch all") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    World world;
    world.mesh.geometry =
        std::make_shared<OctreeGeometry>(Index3{1, 1, 1}, std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
    for (std::int64_t id = 0; id < 25; ++id) {
      Block block;
      block.id = id;
      block.space = IndexSpace::list;
      block.cells = list_box(9);
      for (std::size_t a = 0; a < 3 && (seed % 2 == 0 || random() % 5 != 0); ++a) {
        block.bounds.low[a] = 0.125 * static_cast<double>(random() % 8);
        block.bounds.high[a] = block.bounds.low[a] + 0.125 * static_cast<double>(1 + random() % 3);
      }
      if (!block.bounds.known()) block.bounds = {};
      world.blocks.push_back(block);
    }
    world.point_to_ranges(seed);
    world.check([](const Block& a, const Block& b) {
      bool touch = true;
      for (std::size_t d = 0; d < 3; ++d) {
        touch = touch && a.bounds.low[d] <= b.bounds.high[d] && b.bounds.low[d] <= a.bounds.high[d];
      }
      return touch || !a.bounds.known() || !b.bounds.known();
    });
  }
}

TEST_CASE("a selection by values takes blocks that bracket them with a neighbour of another level") {
  Metadata metadata;
  Mesh mesh{0,
            "m",
            {{0, 0, 0}, {8, 4, 4}},
            3,
            std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0})};
  mesh.refinement = {{2, 2, 2}};
  metadata.meshes.push_back(mesh);
  Variable v;
  v.id = 0;
  v.name = "t";
  v.mesh = 0;
  v.centering = Centering::cell;
  metadata.variables.push_back(v);
  std::vector<Block> blocks(3);
  blocks[0].cells = {{0, 0, 0}, {4, 4, 4}};
  blocks[1].cells = {{4, 0, 0}, {8, 4, 4}};
  blocks[2].cells = {{8, 0, 0}, {12, 8, 8}};  // over the lower half of the second
  blocks[1].id = 1, blocks[2].id = 2, blocks[2].level = 1;
  std::vector<BlockRange> ranges(3);
  const Range of[] = {{0, 1}, {0, 1}, {3, 4}};
  for (std::size_t b = 0; b < 3; ++b) {
    ranges[b].block = blocks[b].id;
    ranges[b].variable = 0;
    ranges[b].all = of[b];
  }
  const auto needed = [&](double value) {
    return Needs(metadata, blocks, ranges).of({0, 0, ValuesBracketed{{value}, {0, 0}}});
  };
  CHECK(needed(2) == std::vector<bool>{true, true, true});
  CHECK(needed(3.5) == std::vector<bool>{true, true, true});
  CHECK(needed(5) == std::vector<bool>{false, false, false});
  ranges[2].all = {0, 1};
  CHECK(needed(2) == std::vector<bool>{false, false, false});
}
