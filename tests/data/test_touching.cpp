// What is next to blocks of several levels, against looking at every pair.
#include "data/touching.hpp"

#include <doctest/doctest.h>

#include <random>

#include "sidestream/data/catalogue.hpp"

using namespace sidestream;

namespace {

/// Blocks on levels, anywhere, with ranges; some were not delivered.
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

}  // namespace

TEST_CASE("patches: blocks that share a point, on any level") {
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
    const auto corner = [&](const Block& block, std::size_t a, bool upper) {  // in cells of the finest level
      return (upper ? block.cells.hi[a] : block.cells.lo[a]) * world.mesh.ratio_to(2)[a] /
             world.mesh.ratio_to(block.level)[a];
    };
    // A layer of cells of the other level more is taken in: what shares a point is among it.
    const std::vector<Range> found = ranges_with_touching(world.mesh, world.blocks, world.of);
    for (std::size_t b = 0; b < world.blocks.size(); ++b) {
      for (std::size_t n = 0; n < world.blocks.size(); ++n) {
        if (world.of[b] == nullptr || world.of[n] == nullptr) continue;
        bool touch = true, near = true;
        for (std::size_t a = 0; a < 3; ++a) {
          const Index low = corner(world.blocks[b], a, false), high = corner(world.blocks[b], a, true);
          const Index other_low = corner(world.blocks[n], a, false), other_high = corner(world.blocks[n], a, true);
          const Index width = 2 * world.mesh.ratio_to(2)[a] / world.mesh.ratio_to(world.blocks[n].level)[a];
          touch = touch && low <= other_high && other_low <= high;
          near = near && low <= other_high + width && other_low <= high + width;
        }
        const Range& range = world.of[n]->all;
        const bool inside = found[b].minimum <= range.minimum && found[b].maximum >= range.maximum;
        if (touch) CHECK(inside);
        if (!near && n != b && range.maximum > found[b].maximum) CHECK(!inside);
      }
    }
  }
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
