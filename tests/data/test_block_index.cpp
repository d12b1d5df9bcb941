// Searches for blocks, compared with a look at all of them.
#include <doctest/doctest.h>

#include <random>

#include "sidestream/kit/data/block_index.hpp"
#include "support/fake_domain.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

std::vector<std::int64_t> slowly(const std::vector<Block>& blocks, std::int32_t mesh, std::int32_t level,
                                 const Box& cells) {
  std::vector<std::int64_t> found;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& block = blocks[b];
    if (block.mesh != mesh || block.level != level || block.cells.empty()) continue;
    if (!intersection(block.cells, cells).empty()) found.push_back(static_cast<std::int64_t>(b));
  }
  return found;
}

void check(const std::vector<Block>& blocks, std::mt19937& random) {
  const BlockIndex index(blocks);
  std::vector<std::int64_t> found{-7};  // earlier contents must be removed
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<Index>(low, high)(random); };
  for (int query = 0; query < 60; ++query) {
    Box box;
    for (int a = 0; a < 3; ++a) {
      box.lo[a] = pick(-12, 20);
      box.hi[a] = box.lo[a] + (query % 7 == 0 ? pick(0, 60) : pick(-1, 4));
    }
    const auto mesh = static_cast<std::int32_t>(pick(0, 2)), level = static_cast<std::int32_t>(pick(0, 2));
    index.overlapping(mesh, level, box, found);
    CHECK(found == slowly(blocks, mesh, level, box));
  }
}

}  // namespace

TEST_CASE("tiles: bricks, slabs and random divisions") {
  std::mt19937 random(2);
  const Box cells{{-9, -4, 0}, {15, 12, 17}};
  for (int round = 0; round < 30; ++round) {
    std::vector<Block> blocks;
    for (std::int32_t mesh = 0; mesh < 2; ++mesh) {
      const Division division = round % 3 == 0   ? even_division(cells, {3, 4, 2})
                                : round % 3 == 1 ? even_division(cells, {1, 1, 17})
                                                 : random_division(cells, 1 + random() % 50, random());
      for (const Box& box : division) {
        blocks.push_back({static_cast<std::int64_t>(blocks.size()), mesh, static_cast<std::int32_t>(random() % 2), 0,
                          IndexSpace::box, box});
      }
    }
    std::shuffle(blocks.begin(), blocks.end(), random);
    check(blocks, random);
  }
}

TEST_CASE("boxes in any place, empty ones and overlaps among them") {
  std::mt19937 random(3);
  for (int round = 0; round < 30; ++round) {
    std::vector<Block> blocks(random() % 40);
    for (Block& block : blocks) {
      block.mesh = static_cast<std::int32_t>(random() % 3);
      block.level = static_cast<std::int32_t>(random() % 3);
      for (int a = 0; a < 3; ++a) {
        block.cells.lo[a] = static_cast<Index>(random() % 30) - 12;
        block.cells.hi[a] = block.cells.lo[a] + static_cast<Index>(random() % 8) - 1;
      }
    }
    check(blocks, random);
  }
}

TEST_CASE("no blocks at all") {
  std::vector<std::int64_t> found{1};
  BlockIndex().overlapping(0, 0, {{0, 0, 0}, {9, 9, 9}}, found);
  CHECK(found.empty());
}
