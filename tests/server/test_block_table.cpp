// Ownership and neighbours against brute force over every point and every pair of blocks.
#include <doctest/doctest.h>

#include <random>
#include <set>

#include "server/block_table.hpp"

using namespace sidestream;

namespace {

/// A mesh of n^3 cells cut at random planes, ids shuffled; some blocks are missing.
std::vector<PlacedBlock> random_blocks(std::mt19937& random, Index n) {
  std::vector<std::vector<Index>> cuts(3);
  for (auto& axis : cuts) {
    std::set<Index> at{0, n};
    for (int c = 0; c < 3; ++c) at.insert(std::uniform_int_distribution<Index>(0, n)(random));
    axis.assign(at.begin(), at.end());
  }
  std::vector<PlacedBlock> blocks;
  for (std::size_t i = 0; i + 1 < cuts[0].size(); ++i) {
    for (std::size_t j = 0; j + 1 < cuts[1].size(); ++j) {
      for (std::size_t k = 0; k + 1 < cuts[2].size(); ++k) {
        PlacedBlock b;
        b.block.cells = Box{{cuts[0][i], cuts[1][j], cuts[2][k]}, {cuts[0][i + 1], cuts[1][j + 1], cuts[2][k + 1]}};
        blocks.push_back(b);
      }
    }
  }
  std::shuffle(blocks.begin(), blocks.end(), random);
  for (std::size_t b = 0; b < blocks.size(); ++b) blocks[b].block.id = static_cast<std::int64_t>(3 * b + 1);
  if (blocks.size() > 4) blocks.resize(blocks.size() - 2);
  return blocks;
}

}  // namespace

TEST_CASE("every point of a block belongs to the block of lowest id that has it") {
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    const Index n = 9;
    const std::vector<PlacedBlock> blocks = random_blocks(random, n);
    const BlockTable table(blocks);
    for (const Centering centering : {Centering::cell, Centering::node}) {
      Variable variable;
      variable.centering = centering;
      std::vector<int> owners(1000, 0);
      for (const PlacedBlock& b : blocks) {
        for (const Box& box : table.owned(variable, b.block)) {
          for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
            for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
              for (Index i = box.lo[0]; i < box.hi[0]; ++i) {
                ++owners[static_cast<std::size_t>(i + 10 * (j + 10 * k))];
                for (const PlacedBlock& other : blocks) {
                  const bool has = variable.points(other.block.cells).contains(Index3{i, j, k});
                  REQUIRE_FALSE((has && other.block.id < b.block.id));
                }
              }
            }
          }
        }
      }
      for (Index p = 0; p < 1000; ++p) {
        const Index3 at{p % 10, p / 10 % 10, p / 100};
        bool somewhere = false;
        for (const PlacedBlock& b : blocks) somewhere |= variable.points(b.block.cells).contains(at);
        REQUIRE(owners[static_cast<std::size_t>(p)] == (somewhere ? 1 : 0));
      }
    }
  }
}

TEST_CASE("near finds exactly the blocks within one cell") {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    const std::vector<PlacedBlock> blocks = random_blocks(random, 12);
    const BlockTable table(blocks);
    for (const PlacedBlock& b : blocks) {
      std::set<std::int64_t> expected, found;
      for (const PlacedBlock& other : blocks) {
        if (!intersection(other.block.cells, grown(b.block.cells, 1)).empty()) expected.insert(other.block.id);
      }
      for (const std::int64_t n : table.near(0, 0, b.block.cells)) {
        found.insert(table.blocks()[static_cast<std::size_t>(n)].id);
      }
      REQUIRE(found == expected);
    }
    CHECK(table.near(1, 0, Box{{0, 0, 0}, {12, 12, 12}}).empty());
    CHECK(table.near(0, 1, Box{{0, 0, 0}, {12, 12, 12}}).empty());
  }
}
