// Cells that finer levels cover, compared with a look at every cell of the finest level.
#include "data/levels.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <random>

using namespace sidestream;

namespace {

constexpr Index3 cells{12, 8, 6};

Metadata declared() {
  Mesh mesh;
  mesh.name = "m";
  mesh.cells = {{0, 0, 0}, cells};
  mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
  mesh.refinement = {{2, 2, 2}, {2, 1, 3}};
  Variable variable;
  variable.name = "t";
  return {{mesh}, {variable}};
}

Index3 ratio_to_finest(std::int32_t level) {
  return level == 0 ? Index3{4, 2, 6} : level == 1 ? Index3{2, 1, 3} : Index3{1, 1, 1};
}

Block block(std::int64_t id, std::int32_t level, const Box& box) {
  Block made;
  made.id = id;
  made.level = level;
  made.cells = box;
  return made;
}

/// Four blocks of level 0, and disjoint blocks of finer levels at random places.
std::vector<Block> random_blocks(std::mt19937& random) {
  std::vector<Block> blocks;
  for (Index n = 0; n < 4; ++n) {
    blocks.push_back(block(n, 0, {{3 * n, 0, 0}, {3 * n + 3, cells[1], cells[2]}}));
  }
  const auto below = [&](Index n) { return static_cast<Index>(random() % static_cast<std::uint64_t>(n)); };
  for (std::int32_t level = 1; level <= 2; ++level) {
    const Index3 all = level == 1 ? Index3{24, 16, 12} : Index3{48, 16, 36};
    for (int tries = 0; tries < 8; ++tries) {
      Box box;
      for (std::size_t a = 0; a < 3; ++a) {
        box.lo[a] = below(all[a]);
        box.hi[a] = std::min(all[a], box.lo[a] + 1 + below(all[a]));
      }
      const bool meets = std::any_of(blocks.begin(), blocks.end(), [&](const Block& other) {
        return other.level == level && !intersection(other.cells, box).empty();
      });
      if (!meets) blocks.push_back(block(static_cast<std::int64_t>(blocks.size()), level, box));
    }
  }
  return blocks;
}

Box finest_of(const Box& box, std::int32_t level) {
  const Index3 ratio = ratio_to_finest(level);
  Box fine = box;
  for (std::size_t a = 0; a < 3; ++a) {
    fine.lo[a] *= ratio[a];
    fine.hi[a] *= ratio[a];
  }
  return fine;
}

template <class F>
void for_each_cell(const Box& box, const F& f) {
  for (Index k = box.lo[2]; k < box.hi[2]; ++k)
    for (Index j = box.lo[1]; j < box.hi[1]; ++j)
      for (Index i = box.lo[0]; i < box.hi[0]; ++i) f(Box{{i, j, k}, {i + 1, j + 1, k + 1}});
}

/// The levels that cover each cell of the finest grid, as bits.
class Painted {
 public:
  explicit Painted(const std::vector<Block>& blocks) : levels_(48 * 16 * 36, 0) {
    for (std::int32_t level = 0; level <= 2; ++level) {
      for (const Block& one : blocks) {
        if (one.level == level)
          for_each_cell(finest_of(one.cells, level), [&](const Box& c) { at(c.lo) |= 1 << level; });
      }
    }
  }
  /// True if any finer level covers a part of the cell.
  [[nodiscard]] bool touches(const Box& cell, std::int32_t level) {
    bool any = false;
    for_each_cell(finest_of(cell, level), [&](const Box& c) { any = any || at(c.lo) >> (level + 1) != 0; });
    return any;
  }
  /// True if finer levels together cover all of the cell.
  [[nodiscard]] bool covers(const Box& cell, std::int32_t level) {
    bool all = true;
    for_each_cell(finest_of(cell, level), [&](const Box& c) { all = all && at(c.lo) >> (level + 1) != 0; });
    return all;
  }

 private:
  int& at(const Index3& p) { return levels_[static_cast<std::size_t>(p[0] + 48 * (p[1] + 16 * p[2]))]; }
  std::vector<int> levels_;
};

}  // namespace

TEST_CASE("cells that finer levels cover, and blocks of which they cover all") {
  const Metadata metadata = declared();
  std::mt19937 random(7);
  int whole = 0;
  for (int round = 0; round < 300; ++round) {
    const std::vector<Block> blocks = random_blocks(random);
    Painted painted(blocks);
    const BlockIndex index(blocks);
    Selected without(0);
    without.covered = false;
    std::vector<bool> needed(blocks.size(), true);
    needed[3] = false;  // must stay false
    leave_out_covered(without, wholly_covered(metadata, blocks, index), needed);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const std::vector<Box> covered = covered_cells(metadata.meshes[0], blocks[b], blocks, index);
      bool all = true;
      for_each_cell(blocks[b].cells, [&](const Box& cell) {
        int times = 0;
        for (const Box& box : covered) times += !intersection(box, cell).empty();
        REQUIRE(times == (painted.covers(cell, blocks[b].level) ? 1 : 0));
        all = all && times == 1;
      });
      CHECK(needed[b] == (!all && b != 3));
      whole += all;
    }
  }
  CHECK(whole > 5);
}

TEST_CASE("completely covered blocks stay if all are wanted, and if there is one level") {
  const Metadata metadata = declared();
  std::vector<Block> blocks{block(0, 0, {{0, 0, 0}, cells}), block(1, 1, {{0, 0, 0}, {24, 16, 12}})};
  std::vector<bool> needed{true, true};
  leave_out_covered(Selected(0), wholly_covered(metadata, blocks, BlockIndex(blocks)), needed);
  CHECK(needed == std::vector<bool>{true, true});
  Selected without(0);
  without.covered = false;
  leave_out_covered(without, wholly_covered(metadata, blocks, BlockIndex(blocks)), needed);
  CHECK(needed == std::vector<bool>{false, true});
  blocks.pop_back();
  needed = {true};
  leave_out_covered(without, wholly_covered(metadata, blocks, BlockIndex(blocks)), needed);
  CHECK(needed == std::vector<bool>{true});
}

TEST_CASE("partly covered cells are found where they exist, and nowhere else") {
  const Metadata metadata = declared();
  std::mt19937 random(11);
  int with = 0, without = 0;
  for (int round = 0; round < 600; ++round) {
    std::vector<Block> blocks = random_blocks(random);
    if (round % 2 == 1) {  // blocks that end at faces of coarser cells, cut at random places
      for (Block& one : blocks) {
        const Index3 coarse = one.level == 0 ? Index3{1, 1, 1} : one.level == 1 ? Index3{2, 2, 2} : Index3{4, 2, 6};
        for (std::size_t a = 0; a < 3; ++a) {
          one.cells.lo[a] = one.cells.lo[a] / coarse[a] * coarse[a];
          one.cells.hi[a] = (one.cells.hi[a] + coarse[a] - 1) / coarse[a] * coarse[a];
        }
      }
      Block half = blocks.back();
      const std::size_t a = static_cast<std::size_t>(round / 2 % 3);
      half.cells.hi[a] = blocks.back().cells.lo[a] += half.cells.extent(static_cast<int>(a)) / 3;
      half.id = static_cast<std::int64_t>(blocks.size());
      blocks.push_back(half);
    }
    Painted painted(blocks);
    bool expected = false;
    for (const Block& one : blocks) {
      if (one.level == 2) continue;
      for_each_cell(one.cells, [&](const Box& cell) {
        expected = expected || (painted.touches(cell, one.level) && !painted.covers(cell, one.level));
      });
    }
    const std::vector<CoveredInPart> found = covered_in_part(metadata, blocks, BlockIndex(blocks));
    REQUIRE(found.size() == (expected ? 1 : 0));
    (expected ? with : without) += 1;
    if (!expected) continue;
    const CoveredInPart& cut = found.front();
    const Box cell{cut.cell, {cut.cell[0] + 1, cut.cell[1] + 1, cut.cell[2] + 1}};
    CHECK(painted.touches(cell, cut.coarse_level));
    CHECK(!painted.covers(cell, cut.coarse_level));
    CHECK(blocks[static_cast<std::size_t>(cut.coarse)].cells.contains(cell));
    CHECK(blocks[static_cast<std::size_t>(cut.coarse)].level == cut.coarse_level);
    CHECK(blocks[static_cast<std::size_t>(cut.fine)].level == cut.fine_level);
  }
  CHECK(with > 250);
  CHECK(without > 250);
}
