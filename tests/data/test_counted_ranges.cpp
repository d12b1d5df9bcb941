// Blocks that a surface needs on refinement levels, compared with a look at every corner where cells that count meet.
//
// Hierarchies are random: one to three dimensions, ratios 2 and 4, up to three levels, patches that are not there.
// Cells under finer ones have values far from all others, so that one that counts by mistake is seen.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <set>

#include "sidestream/data/catalogue.hpp"
#include "sidestream/kit/data/leaf_contact.hpp"
#include "support/fake_domain.hpp"
#include "support/test_all.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

template <class Work>
void for_each_index(const Box& box, const Work& work) {
  for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
    for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
      for (Index i = box.lo[0]; i < box.hi[0]; ++i) work(Index3{i, j, k});
    }
  }
}

struct Shape {
  int dimensions;
  Index3 cells;
  Index ratio;
  int levels;
};

class World {
 public:
  World(const Shape& shape, Centering centering, unsigned seed)
      : shape_(shape), random_(seed), centering_(centering), phase_(0.1 * (random_() % 63)) {
    Mesh mesh{0, "m", {{0, 0, 0}, shape.cells}, shape.dimensions, nullptr};
    mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
    Index3 ratio{1, 1, 1};
    for (int a = 0; a < shape.dimensions; ++a) ratio[static_cast<std::size_t>(a)] = shape.ratio;
    mesh.refinement.assign(static_cast<std::size_t>(shape.levels) - 1, ratio);
    mesh.periodic = {seed % 3 == 0, false, false};
    metadata.meshes = {mesh};
    Variable variable;
    variable.id = variable.mesh = 0;
    variable.centering = centering;
    metadata.variables = {variable};
    make_blocks();
    paint();
    measure();
  }

  [[nodiscard]] std::vector<bool> needed(const Part& part) const {
    Selected selected(0, 0, part);
    selected.covered = false;
    return Needs(metadata, blocks, ranges, counted).of(selected);
  }
  /// Blocks with a cell at a corner inside the mesh around which values lie on both sides.
  [[nodiscard]] std::vector<bool> at_surface(const std::vector<double>& values) const {
    std::vector<bool> needed(blocks.size(), false);
    Box corners = finest_;
    for (int a = 0; a < 3; ++a) a < shape_.dimensions ? ++corners.lo[a] : corners.hi[a] = corners.lo[a] + 1;
    for_each_index(corners, [&](const Index3& corner) { look(corner, values, needed); });
    return needed;
  }
  /// Blocks with a cell that counts and exceeds `least`.
  [[nodiscard]] std::vector<bool> above(double least) const {
    std::vector<bool> needed(blocks.size(), false);
    for_each_index(finest_, [&](const Index3& cell) {
      const int b = owner(cell);
      if (b >= 0 && leaf_value(cell) >= least) needed[static_cast<std::size_t>(b)] = true;
    });
    return needed;
  }

  Metadata metadata;
  std::vector<Block> blocks;
  std::vector<BlockRange> ranges;
  std::vector<CountedRange> counted;

 private:
  [[nodiscard]] Index3 width(std::int32_t level) const {
    const Mesh& mesh = metadata.meshes[0];
    const Index3 all = mesh.ratio_to(shape_.levels - 1), to = mesh.ratio_to(level);
    return {all[0] / to[0], all[1] / to[1], all[2] / to[2]};
  }
  void add(std::int32_t level, const Box& cells) {
    Block block;
    block.id = static_cast<std::int64_t>(blocks.size()) * 7 % 1009;
    block.level = level;
    block.cells = cells;
    blocks.push_back(block);
  }
  /// Level 0 tiles the mesh. Patches of the next levels refine boxes of whole cells, some of them across several
  /// blocks; a few are then taken away, so that what they cover counts again.
  void make_blocks() {
    const Mesh& mesh = metadata.meshes[0];
    for (const Box& box : random_division(mesh.cells, 8 + random_() % 8, random_())) add(0, box);
    for (std::int32_t level = 1; level < shape_.levels; ++level) {
      const Box coarse = mesh.cells_on(level - 1);
      const Index3& ratio = mesh.refinement[static_cast<std::size_t>(level) - 1];
      for (int tries = 0; tries < 14; ++tries) {
        Box box;
        for (std::size_t a = 0; a < 3; ++a) {
          box.lo[a] = static_cast<Index>(random_() % static_cast<unsigned>(coarse.hi[a]));
          box.hi[a] = std::min(coarse.hi[a], box.lo[a] + 1 + static_cast<Index>(random_() % 4));
          box.lo[a] *= ratio[a];
          box.hi[a] *= ratio[a];
        }
        const bool meets = std::any_of(blocks.begin(), blocks.end(), [&](const Block& other) {
          return other.level == level && !intersection(other.cells, box).empty();
        });
        if (!meets) add(level, box);
      }
    }
    std::erase_if(blocks, [&](const Block&) { return random_() % 11 == 0; });
  }
  [[nodiscard]] std::size_t place(const Index3& cell) const {
    return static_cast<std::size_t>((cell[2] * finest_.hi[1] + cell[1]) * finest_.hi[0] + cell[0]);
  }
  void paint() {
    finest_ = metadata.meshes[0].cells_on(shape_.levels - 1);
    owners_.assign(static_cast<std::size_t>(finest_.count()), -1);
    for (std::int32_t level = 0; level < shape_.levels; ++level) {
      const Index3 w = width(level);
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        if (blocks[b].level != level) continue;
        Box box = blocks[b].cells;
        for (std::size_t a = 0; a < 3; ++a) box.lo[a] *= w[a], box.hi[a] *= w[a];
        for_each_index(box, [&](const Index3& cell) { owners_[place(cell)] = static_cast<int>(b); });
      }
    }
    leaf_values_.assign(owners_.size(), 0);
    for_each_index(finest_, [&](const Index3& cell) {
      if (owner(cell) >= 0) leaf_values_[place(cell)] = value_of_leaf(cell);
    });
  }
  [[nodiscard]] int owner(const Index3& cell) const { return owners_[place(cell)]; }
  /// A wave whose places of one value are curved, plus a step between levels.
  [[nodiscard]] double smooth(const std::array<double, 3>& x, std::int32_t level) const {
    double sum = 0.02 * level;
    for (std::size_t a = 0; a < static_cast<std::size_t>(shape_.dimensions); ++a) {
      const double turns = 0.8 * x[a] / static_cast<double>(shape_.cells[a]);
      sum += std::sin(2 * std::numbers::pi * turns + phase_ * static_cast<double>(a + 1));
    }
    return sum;
  }
  /// The value of a variable in cells; of cells that a finer level covers it is far from all others.
  [[nodiscard]] double cell_value(std::int32_t level, const Index3& cell) const {
    const Index3 w = width(level);
    Box box;
    std::array<double, 3> x{};
    const auto finest = metadata.meshes[0].ratio_to(shape_.levels - 1);
    for (std::size_t a = 0; a < 3; ++a) {
      box.lo[a] = cell[a] * w[a];
      box.hi[a] = box.lo[a] + w[a];
      x[a] = (static_cast<double>(cell[a]) + 0.5) * static_cast<double>(w[a]) / static_cast<double>(finest[a]);
    }
    bool covered = true;
    for_each_index(box, [&](const Index3& one) {
      covered = covered && blocks[static_cast<std::size_t>(owner(one))].level > level;
    });
    return covered ? (cell[0] % 2 ? 1000 : -1000) : smooth(x, level);
  }
  [[nodiscard]] double node_value(std::int32_t level, const Index3& node) const {
    const Index3 w = width(level);
    std::array<double, 3> x{};
    const auto finest = metadata.meshes[0].ratio_to(shape_.levels - 1);
    for (std::size_t a = 0; a < 3; ++a) x[a] = static_cast<double>(node[a] * w[a]) / static_cast<double>(finest[a]);
    return smooth(x, 0);
  }
  [[nodiscard]] double value(const Block& block, const Index3& point) const {
    return centering_ == Centering::cell ? cell_value(block.level, point) : node_value(block.level, point);
  }
  [[nodiscard]] double leaf_value(const Index3& cell) const { return leaf_values_[place(cell)]; }
  /// The value of the leaf around a cell of the finest level: its own, or the mean of its corners.
  [[nodiscard]] double value_of_leaf(const Index3& cell) const {
    const Block& block = blocks[static_cast<std::size_t>(owner(cell))];
    const Index3 w = width(block.level);
    const Index3 of{cell[0] / w[0], cell[1] / w[1], cell[2] / w[2]};
    if (centering_ == Centering::cell) return cell_value(block.level, of);
    double sum = 0;
    const int corners = 1 << shape_.dimensions;
    for (int c = 0; c < corners; ++c)
      sum += node_value(block.level, {of[0] + (c & 1), of[1] + (c >> 1 & 1), of[2] + (c >> 2)});
    return sum / corners;
  }
  /// True if the point is a corner of the leaf around a cell of the finest level.
  [[nodiscard]] bool is_corner(const Index3& point, const Index3& cell) const {
    const Index3 w = width(blocks[static_cast<std::size_t>(owner(cell))].level);
    for (std::size_t a = 0; a < static_cast<std::size_t>(shape_.dimensions); ++a) {
      if (point[a] % w[a] != 0) return false;
    }
    return true;
  }
  void look(const Index3& corner, const std::vector<double>& values, std::vector<bool>& needed) const {
    std::set<std::size_t> around;
    Range range;
    bool any = false;
    const int cells = 1 << shape_.dimensions;
    for (int c = 0; c < cells; ++c) {
      const Index3 cell{corner[0] - (c & 1), corner[1] - (c >> 1 & 1), corner[2] - (c >> 2)};
      if (owner(cell) < 0) return;
      const double at = leaf_value(cell);
      range.add({at, at});
      around.insert(static_cast<std::size_t>(owner(cell)));
      any = any || is_corner(corner, cell);
    }
    if (!any || std::none_of(values.begin(), values.end(), [&](double v) { return range.brackets(v); })) return;
    for (const std::size_t b : around) needed[b] = true;
  }
  [[nodiscard]] Range range_of(const Block& block, const Box& points) const {
    Range range;
    for_each_index(points, [&](const Index3& p) {
      const double v = value(block, p);
      range.add({v, v});
    });
    return range;
  }
  /// Measures what clients do, where servers ask for it.
  void measure() {
    std::vector<std::int64_t> all;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      all.push_back(static_cast<std::int64_t>(b));
      BlockRange& range = ranges.emplace_back();
      range.block = blocks[b].id;
      range.variable = 0;
      range.all = range_of(blocks[b], metadata.variables[0].points(blocks[b].cells));
    }
    const BlockIndex index(blocks);
    const CountedParts parts = counted_parts(metadata.meshes[0], blocks, index, all, centering_ == Centering::cell);
    for (const std::vector<CountedPart>* some : {&parts.own, &parts.rims}) {
      for (const CountedPart& part : *some) {
        const Block &of = blocks[static_cast<std::size_t>(part.position)],
                    &beside = blocks[static_cast<std::size_t>(part.beside)];
        CountedRange& range = counted.emplace_back(CountedRange{of.id, beside.id, 0, 0, {}});
        for (const Box& cells : part.cells) range.range.add(range_of(of, metadata.variables[0].points(cells)));
      }
    }
  }

  Shape shape_;
  std::mt19937 random_;
  Centering centering_;
  double phase_;
  Box finest_;
  std::vector<int> owners_;  ///< position of the finest block at each cell of the finest level; -1: none
  std::vector<double> leaf_values_;
};

constexpr Shape shapes[] = {{1, {40, 1, 1}, 2, 3},  {1, {40, 1, 1}, 4, 2}, {2, {16, 12, 1}, 2, 3},
                            {2, {14, 10, 1}, 4, 3}, {3, {10, 9, 8}, 2, 3}, {3, {9, 8, 8}, 4, 2}};

std::ptrdiff_t count(const std::vector<bool>& flags) { return std::count(flags.begin(), flags.end(), true); }

struct Counts {
  std::ptrdiff_t exact = 0, needed = 0, touching = 0, all = 0;
};

/// Adds the blocks that some surfaces of a world need.
void check_surfaces(const World& world, Counts& counts) {
  const double most = world.metadata.meshes[0].dimensions;  // of the wave
  for (const std::vector<double>& values :
       {std::vector{0.1 * most}, std::vector{0.55 * most}, std::vector{-0.8 * most, 0.7 * most}}) {
    const std::vector<bool> exact = world.at_surface(values), needed = world.needed(ValuesBracketed{values, {0, 0}});
    for (std::size_t b = 0; b < exact.size(); ++b) CHECK((!exact[b] || needed[b]));
    const Selected whole(0, 0, ValuesBracketed{values, {0, 0}});
    const std::vector<bool> touching = Needs(world.metadata, world.blocks, world.ranges).of(whole);
    for (std::size_t b = 0; b < exact.size(); ++b) CHECK((!exact[b] || touching[b]));
    // Nodes on the border of two blocks belong to one of them, whose range may not touch the other's cells.
    const bool cells = world.metadata.variables[0].centering == Centering::cell;
    for (std::size_t b = 0; cells && b < exact.size(); ++b) CHECK((!needed[b] || touching[b]));
    CHECK(count(needed) <= count(touching));
    counts.exact += count(exact);
    counts.needed += count(needed);
    counts.touching += count(touching);
    counts.all += static_cast<std::ptrdiff_t>(exact.size());
  }
}

}  // namespace

TEST_CASE("surfaces need hardly more blocks than those with cells at them") {
  for (const Centering centering : {Centering::cell, Centering::node}) {
    Counts all;
    for (const Shape& shape : shapes) {
      Counts counts;
      for (unsigned seed = 0; seed < (test_all() ? 60u : 4u); ++seed)
        check_surfaces(World(shape, centering, seed), counts);
      MESSAGE(shape.dimensions, " dimensions, ratio ", shape.ratio, ": ", counts.exact, " blocks at surfaces, ",
              counts.needed, " needed, ", counts.touching, " by whole blocks, of ", counts.all);
      all.exact += counts.exact;
      all.needed += counts.needed;
      all.all += counts.all;
    }
    CHECK(all.exact > all.all / 10);
    CHECK(all.exact < all.all * 9 / 10);
    // A cell counts with the mean of its nodes, but nodes are measured, since another patch may own some of them.
    const double most = centering == Centering::cell ? 1.1 : 1.4;
    CHECK(static_cast<double>(all.needed) <= most * static_cast<double>(all.exact));
  }
}

TEST_CASE("thresholds need exactly the blocks with such cells that count") {
  int some = 0, spared = 0;
  for (const Shape& shape : shapes) {
    for (unsigned seed = 100; seed < 104; ++seed) {
      const World world(shape, Centering::cell, seed);
      for (const double least : {-0.5, 0.7, 1.2}) {
        BlockPredicate predicate;
        predicate.needed = [least](const BlockSummary& block) { return block.range.maximum >= least; };
        predicate.range = {0, 0};
        const std::vector<bool> needed = world.needed(predicate);
        CHECK(needed == world.above(least));
        some += static_cast<int>(count(needed));
        spared += static_cast<int>(needed.size()) - static_cast<int>(count(needed));
      }
    }
  }
  CHECK(some > 100);
  CHECK(spared > 100);
}

TEST_CASE("a selection that wants covered blocks goes by whole ranges") {
  const World world(shapes[3], Centering::cell, 5);
  const Selected whole(0, 0, ValuesBracketed{{0.0}, {0, 0}});
  CHECK(Needs(world.metadata, world.blocks, world.ranges, world.counted).of(whole) ==
        Needs(world.metadata, world.blocks, world.ranges).of(whole));
}
