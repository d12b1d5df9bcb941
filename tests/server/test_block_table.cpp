// Ownership and neighbours, compared with brute force over every point and every pair of blocks.
#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <random>
#include <set>
#include <tuple>

#include "server/redistribution/block_table.hpp"
#include "support/fake_domain.hpp"

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
    for (const Centering centering : testing::every_centering) {
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

TEST_CASE("a block that two clients declare is found, until one removes it") {
  const auto change = [](std::int64_t id, std::int32_t client, Index lo, Index hi, bool removed = false) {
    BlockChange one;
    one.block.id = id;
    one.block.client = client;
    one.block.cells = Box{{lo, 0, 0}, {hi, 1, 1}};
    one.removed = removed;
    return one;
  };
  BlockTable table;
  // On one server, and on two.
  for (const bool apart : {false, true}) {
    const auto apply = [&](const BlockChange& first, const BlockChange& second) {
      table.apply(apart ? std::vector<std::vector<BlockChange>>{{first}, {second}}
                        : std::vector<std::vector<BlockChange>>{{first, second}, {}});
    };
    apply(change(7, 0, 0, 4), change(8, 1, 4, 8));
    CHECK_FALSE(table.repeated());
    apply(change(100, 1, 8, 9), change(100, 3, 9, 12));
    REQUIRE(table.repeated());
    CHECK(table.repeated()->id == 100);
    CHECK(table.repeated()->client == 1);
    CHECK(table.repeated()->other == 3);
    CHECK(table.blocks().size() == 3);
    table.apply({{change(100, 1, 8, 9, true)}, {}});
    CHECK_FALSE(table.repeated());
    // The block goes to another client: it is removed and declared in either order.
    apply(change(100, 2, 9, 12), change(100, 3, 9, 12, true));
    CHECK_FALSE(table.repeated());
    apply(change(100, 2, 9, 12, true), change(100, 0, 9, 12));
    CHECK_FALSE(table.repeated());
    REQUIRE(table.blocks().size() == 3);
    CHECK(table.blocks().front().client == 0);
    apply(change(8, 1, 4, 8), change(100, 0, 9, 12, true));
    CHECK(table.blocks().size() == 2);
  }
  // Another server reports the same client's block, which is declared there before or after it is removed here.
  table.apply({{change(9, 5, 20, 21)}, {}});
  table.apply({{change(9, 5, 20, 21, true)}, {change(9, 5, 20, 21)}});
  CHECK(table.blocks().size() == 3);
  table.apply({{change(9, 5, 20, 21)}, {change(9, 5, 20, 21, true)}});
  CHECK(table.blocks().size() == 3);
}

/// The number of cells of `fine` along one cell of `coarse`.
Index3 ratio_between(const Mesh& mesh, std::int32_t coarse, std::int32_t fine) {
  Index3 ratio{1, 1, 1};
  for (auto level = static_cast<std::size_t>(coarse); level < static_cast<std::size_t>(fine); ++level) {
    for (std::size_t a = 0; a < 3; ++a) ratio[a] *= mesh.refinement[level][a];
  }
  return ratio;
}

/// True if each part of a cell, as small as the cells of level 2, is in a block of any finer level.
bool covered_by_finer(const Mesh& mesh, const std::vector<PlacedBlock>& blocks, std::int32_t level,
                      const Index3& cell) {
  if (level == 2) return false;
  const Index3 r = ratio_between(mesh, level, 2);
  for (Index c = 0; c < r[0] * r[1] * r[2]; ++c) {
    const Index3 part{cell[0] * r[0] + c % r[0], cell[1] * r[1] + c / r[0] % r[1], cell[2] * r[2] + c / r[0] / r[1]};
    bool some = false;
    for (const PlacedBlock& other : blocks) {
      if (other.block.level <= level) continue;
      const Index3 steps = ratio_between(mesh, other.block.level, 2);
      Index3 at{};
      for (std::size_t a = 0; a < 3; ++a) at[a] = part[a] / steps[a] - (part[a] % steps[a] < 0 ? 1 : 0);
      some |= other.block.cells.contains(at);
    }
    if (!some) return false;
  }
  return true;
}

TEST_CASE("cells that finer levels cover are found, by looking at every cell") {
  std::mt19937 random(19);
  Mesh mesh;
  mesh.id = 0;
  mesh.cells = {{0, 0, 0}, {6, 6, 6}};
  mesh.refinement = {{2, 2, 2}, {3, 1, 2}};
  int covered_cells = 0;
  for (int round = 0; round < 40; ++round) {
    std::vector<PlacedBlock> blocks;
    for (int n = 0; n < 9; ++n) {
      PlacedBlock placed;
      placed.block.id = n;
      placed.block.level = n % 3;
      const Box whole = mesh.cells_on(placed.block.level);
      for (int a = 0; a < 3; ++a) {
        // Some boxes begin or end within a coarser cell.
        const auto extent = static_cast<unsigned>(whole.hi[a]);
        placed.block.cells.lo[a] = static_cast<Index>(random() % (extent / 2));
        placed.block.cells.hi[a] = placed.block.cells.lo[a] + 1 + static_cast<Index>(random() % (extent / 2));
      }
      blocks.push_back(placed);
    }
    const BlockTable table(blocks);
    for (const PlacedBlock& placed : blocks) {
      const Block& block = placed.block;
      const auto covered = table.covered(mesh, block);
      const Box region = grown(block.cells, 1);
      for (Index k = region.lo[2]; k < region.hi[2]; ++k) {
        for (Index j = region.lo[1]; j < region.hi[1]; ++j) {
          for (Index i = region.lo[0]; i < region.hi[0]; ++i) {
            const bool is = covered_by_finer(mesh, blocks, block.level, {i, j, k});
            int found = 0;
            for (const Box& box : covered) found += box.contains(Index3{i, j, k});
            REQUIRE(found == (is ? 1 : 0));
            covered_cells += is;
          }
        }
      }
    }
  }
  CHECK(covered_cells > 100);
}

TEST_CASE("overlapping blocks of one level are found, those of lists and other levels are none") {
  const auto block = [](std::int64_t id, std::int32_t level, const Box& cells) {
    PlacedBlock placed;
    placed.block.id = id;
    placed.block.level = level;
    placed.block.cells = cells;
    return placed;
  };
  std::vector<PlacedBlock> blocks{block(0, 0, {{0, 0, 0}, {2, 2, 2}}), block(1, 0, {{2, 0, 0}, {4, 2, 2}}),
                                  block(2, 1, {{0, 0, 0}, {4, 4, 4}}), block(3, 0, {{0, 0, 0}, {9, 1, 1}})};
  blocks[3].block.space = IndexSpace::list;
  CHECK(!BlockTable(blocks).overlap());
  blocks[1].block.cells.lo[0] = 1;
  const auto found = BlockTable(blocks).overlap();
  REQUIRE(found);
  CHECK(found->first.id == 0);
  CHECK(found->second.id == 1);
  const auto not_there = [](const Block& one) { return one.id == 1; };
  CHECK(!BlockTable(blocks).overlap(false, not_there));
  CHECK(BlockTable(blocks).overlap(true));
  CHECK(!BlockTable(blocks).overlap(true, not_there));
}

TEST_CASE("a table after many changes equals one made of the remaining blocks") {
  std::mt19937 random(23);
  const auto pick = [&](int most) { return static_cast<std::int32_t>(random() % static_cast<unsigned>(most)); };
  int in_place = 0, repeated = 0;
  for (int round = 0; round < 20; ++round) {
    BlockTable table;
    std::map<std::tuple<std::int32_t, std::int64_t, std::int32_t>, PlacedBlock> left;  // by mesh, id and client
    for (int step = 0; step < 60; ++step) {
      std::vector<std::vector<BlockChange>> changes(3);
      for (int n = step == 0 ? 40 : pick(4); n >= 0; --n) {
        BlockChange one;
        Block& block = one.block;
        block.id = pick(30);
        block.mesh = pick(2);
        block.client =
            static_cast<std::int32_t>(block.id % 9 == 0 ? pick(5) : block.id % 5);  // two clients declare some blocks
        block.level = pick(8) == 0 ? 1 : 0;
        block.space = pick(9) == 0 ? IndexSpace::list : IndexSpace::box;
        for (int a = 0; a < 3; ++a) {
          block.cells.lo[a] = pick(12);
          block.cells.hi[a] = block.cells.lo[a] + pick(pick(15) == 0 ? 30 : 4);
        }
        const auto server = static_cast<std::size_t>(block.client % 3);
        const std::tuple key(block.mesh, block.id, block.client);
        one.removed = left.contains(key) && pick(5) == 0;
        in_place += !one.removed && left.contains(key);
        if (one.removed) {
          left.erase(key);
        } else {
          left[key] = {block, static_cast<std::int32_t>(server)};
        }
        changes[server].push_back(one);
      }
      table.apply(changes);
      // A table that is made at once, from the blocks that have the lowest client of their id.
      std::vector<PlacedBlock> all;
      std::optional<std::pair<std::int32_t, std::int64_t>> twice;
      for (const auto& [key, placed] : left) {
        const bool known =
            !all.empty() && all.back().block.mesh == placed.block.mesh && all.back().block.id == placed.block.id;
        if (!known) all.push_back(placed);
        if (known && !twice) twice.emplace(placed.block.mesh, placed.block.id);
      }
      const BlockTable fresh(all);
      REQUIRE(table.blocks() == fresh.blocks());
      REQUIRE(table.repeated().has_value() == twice.has_value());
      repeated += twice.has_value();
      if (twice) CHECK(std::pair(table.repeated()->mesh, table.repeated()->id) == *twice);
      for (std::size_t b = 0; b < all.size(); ++b) {
        const auto position = static_cast<std::int64_t>(b);
        const Block& block = table.blocks()[b];
        CHECK(table.server(position) == fresh.server(position));
        std::vector<std::int64_t> near;
        for (std::size_t o = 0; o < all.size(); ++o) {
          const Block& other = table.blocks()[o];
          const bool meets = !intersection(other.cells, grown(block.cells, 1)).empty();
          if (meets && !other.is_list() && other.mesh == block.mesh && other.level == block.level) {
            near.push_back(static_cast<std::int64_t>(o));
          }
        }
        REQUIRE(table.near(block.mesh, block.level, block.cells) == near);
      }
    }
  }
  CHECK(in_place > 1000);
  CHECK(repeated > 100);
}

TEST_CASE("an overlap that a change brings is found") {
  const auto change = [](std::int64_t id, Index lo, Index hi) {
    BlockChange one;
    one.block.id = id;
    one.block.client = static_cast<std::int32_t>(id);
    one.block.cells = Box{{lo, 0, 0}, {hi, 2, 2}};
    return one;
  };
  BlockTable table;
  table.apply({{change(0, 0, 4), change(1, 4, 8), change(2, 8, 12)}});
  CHECK(!table.overlap());
  table.apply({{change(1, 4, 7)}});
  CHECK(!table.overlap());
  table.apply({{change(2, 6, 9)}});
  const auto found = table.overlap();
  REQUIRE(found);
  CHECK(std::pair(found->first.id, found->second.id) == std::pair<std::int64_t, std::int64_t>(2, 1));
}
