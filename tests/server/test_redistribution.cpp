// Pieces and the layers around them, compared with a function that is known at every point.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "server/redistribution/exchange_plan.hpp"
#include "support/fake_domain.hpp"

using namespace sidestream;

namespace {

double value_at(Index i, Index j, Index k) { return static_cast<double>(i + 100 * j + 10'000 * k); }

struct World {
  Metadata metadata;
  BlockTable table;
  Index n;

  World(std::mt19937& random, Index cells, Centering centering) : n(cells) {
    Mesh mesh;
    mesh.id = 0;
    mesh.name = "grid";
    mesh.cells = Box{{0, 0, 0}, {n, n, n}};
    metadata.meshes.push_back(mesh);
    Variable variable;
    variable.id = 0;
    variable.name = "t";
    variable.mesh = 0;
    variable.centering = centering;
    metadata.variables.push_back(variable);
    std::vector<PlacedBlock> blocks;
    const Index a = std::uniform_int_distribution<Index>(1, n - 1)(random);
    const Index b = std::uniform_int_distribution<Index>(1, n - 1)(random);
    for (const auto& [x0, x1] : {std::pair<Index, Index>{0, a}, {a, n}}) {
      for (const auto& [y0, y1] : {std::pair<Index, Index>{0, b}, {b, n}}) {
        for (const auto& [z0, z1] : {std::pair<Index, Index>{0, a}, {a, n}}) {
          PlacedBlock placed;
          placed.block.id = static_cast<std::int64_t>(blocks.size() * 7 % 8);
          placed.block.client = static_cast<std::int32_t>(blocks.size() / 2);
          placed.block.cells = Box{{x0, y0, z0}, {x1, y1, z1}};
          blocks.push_back(placed);
        }
      }
    }
    table = BlockTable(blocks);
  }

  [[nodiscard]] const Variable& variable() const { return metadata.variables[0]; }
};

/// Cuts blocks along x at random places, and gives the parts to random servers. Some blocks stay whole, some are given
/// to nobody.
std::vector<BlockAssignment> random_movements(std::mt19937& random, const World& world, int servers,
                                              std::int32_t width) {
  std::vector<BlockAssignment> all(static_cast<std::size_t>(servers));
  const std::size_t blocks = world.table.blocks().size();
  std::vector<std::int32_t> halo(blocks, width);
  std::uniform_int_distribution<int> any_server(0, servers - 1), tenth(0, 9);
  for (std::size_t b = 0; b < blocks; ++b) {
    const Block& block = world.table.blocks()[b];
    const int fate = tenth(random);
    if (fate == 0) halo[b] = -1;
    if (fate == 0) continue;
    const int first = any_server(random), second = any_server(random);
    Box low = block.cells, high = block.cells;
    const Index cut = std::uniform_int_distribution<Index>(block.cells.lo[0], block.cells.hi[0])(random);
    low.hi[0] = high.lo[0] = cut;
    const bool split = fate > 4 && first != second && !low.empty() && !high.empty();
    const auto give = [&](int server, const Box& cells) {
      const std::int64_t id = split ? block.id * servers + server + 100 : block.id;
      all[static_cast<std::size_t>(server)].pieces.push_back({static_cast<std::int64_t>(b), cells, false, id});
    };
    give(first, split ? low : block.cells);
    if (split) give(second, high);
  }
  for (BlockAssignment& movement : all) {
    movement.halo = {halo};
    movement.wrap = {0};
  }
  return all;
}

/// The values that a transport would bring.
struct Brought {
  std::vector<std::vector<double>> memory;
  std::vector<ArrayView> values;
};
Brought bring(const std::vector<Wanted>& wanted, std::int64_t absent) {
  Brought brought;
  for (const Wanted& piece : wanted) {
    std::vector<double>& memory = brought.memory.emplace_back();
    for (Index k = piece.points.lo[2]; k < piece.points.hi[2]; ++k) {
      for (Index j = piece.points.lo[1]; j < piece.points.hi[1]; ++j) {
        for (Index i = piece.points.lo[0]; i < piece.points.hi[0]; ++i) memory.push_back(value_at(i, j, k));
      }
    }
  }
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    const bool there = wanted[n].block.id != absent;
    ArrayView array;
    array.data = there ? brought.memory[n].data() : nullptr;
    array.box = wanted[n].points;
    array.strides = packed_strides(array.box, 1, Order::column);
    brought.values.push_back(array);
  }
  return brought;
}

ExchangePlan plan_of(const World& world, const BlockAssignment& movement, int server = 0, int servers = 1) {
  std::map<std::int64_t, std::vector<Box>> cache;
  return {world.metadata,
          world.table,
          std::make_shared<BlockAssignment>(movement),
          {server, servers, false},
          [&](const Variable& v, const Block& b) -> const std::vector<Box>& {
            return cache.try_emplace(b.id, world.table.owned(v, b)).first->second;
          }};
}

using Points = std::set<Index3>;

void add_points(Points& points, const Box& box) {
  for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
    for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
      for (Index i = box.lo[0]; i < box.hi[0]; ++i) points.insert({i, j, k});
    }
  }
}

/// Checks that values in the view's reach are right, and that they exist wherever a delivered block owns the point.
void check_view(const BlockView& view, std::int32_t width, const Points& existing) {
  const Box region = grown(view.points, width);
  std::vector<double> values(static_cast<std::size_t>(region.count()));
  const std::int64_t missing = view.gather(region, 0, values.data());
  std::int64_t nowhere = 0;
  std::size_t at = 0;
  for (Index k = region.lo[2]; k < region.hi[2]; ++k) {
    for (Index j = region.lo[1]; j < region.hi[1]; ++j) {
      for (Index i = region.lo[0]; i < region.hi[0]; ++i, ++at) {
        const bool there = existing.contains({i, j, k});
        nowhere += !there;
        const bool right = there ? values[at] == value_at(i, j, k) : std::isnan(values[at]);
        if (!right) FAIL_CHECK("block " << view.block.id << " at " << i << " " << j << " " << k << ": " << values[at]);
      }
    }
  }
  CHECK(missing == nowhere);
}

}  // namespace

TEST_CASE("every piece sees its surroundings, and every point counts once") {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    const Centering centering = testing::every_centering[static_cast<std::size_t>(round) % 8];
    const World world(random, 7, centering);
    const int servers = 1 + round % 4;
    const std::int32_t width = 1 + round % 3;
    const std::int64_t absent = round % 5 == 0 ? 3 : -1;
    Points existing, expected_own, own;
    const std::vector<BlockAssignment> movements = random_movements(random, world, servers, width);
    for (std::size_t b = 0; b < world.table.blocks().size(); ++b) {
      const Block& block = world.table.blocks()[b];
      if (block.id == absent) continue;
      for (const Box& box : world.table.owned(world.variable(), block)) {
        add_points(existing, box);
        if (movements[0].halo[0][b] >= 0) add_points(expected_own, box);
      }
    }
    std::size_t counted = 0;
    for (const BlockAssignment& movement : movements) {
      const ExchangePlan plan = plan_of(world, movement);
      const Brought brought = bring(plan.wanted(), absent);
      const auto views = plan.views(brought.values).blocks;
      for (const BlockView& view : views[0]) {
        check_view(view, width, existing);
        for (const Box& box : view.owned) {
          add_points(own, box);
          counted += static_cast<std::size_t>(box.count());
        }
      }
    }
    CHECK(own == expected_own);
    CHECK(counted == own.size());  // disjoint
  }
}

TEST_CASE("layers are fetched once, and only what no piece here counts as its own") {
  std::mt19937 random(6);
  for (int round = 0; round < 40; ++round) {
    const World world(random, 6, testing::every_centering[static_cast<std::size_t>(round) % 8]);
    for (const BlockAssignment& movement : random_movements(random, world, 2, 2)) {
      const ExchangePlan plan = plan_of(world, movement);
      const Brought brought = bring(plan.wanted(), -1);
      Points reach, own;
      const auto views = plan.views(brought.values).blocks;
      for (const BlockView& view : views[0]) {
        add_points(reach, grown(view.points, 2));
        for (const Box& box : view.owned) add_points(own, box);
      }
      // Finds by brute force all points within reach that are not our own. Each of them must be fetched once.
      Points exists;
      add_points(exists, world.variable().points(world.metadata.meshes[0].cells));
      std::size_t expected = 0;
      for (const Index3& p : reach) expected += exists.contains(p) && !own.contains(p);
      CHECK(plan.count(brought.values).layers == expected * sizeof(double));
    }
  }
}

TEST_CASE("a copy can be read and does not count") {
  std::mt19937 random(8);
  const World world(random, 5, Centering::cell);
  BlockAssignment movement;
  movement.halo = {std::vector<std::int32_t>(world.table.blocks().size(), 0)};
  movement.wrap = {0};
  movement.pieces = {{0, world.table.blocks()[0].cells, true, world.table.blocks()[0].id}};
  const ExchangePlan plan = plan_of(world, movement);
  const Brought brought = bring(plan.wanted(), -1);
  const auto views = plan.views(brought.values).blocks;
  REQUIRE(views[0].size() == 1);
  CHECK(views[0][0].owned.empty());
  CHECK(views[0][0].copy);
  std::vector<double> values(static_cast<std::size_t>(views[0][0].points.count()));
  CHECK(views[0][0].gather(views[0][0].points, 0, values.data()) == 0);
}
