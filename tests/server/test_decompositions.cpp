// Pieces of decompositions, and halos that go round periodic meshes, compared with a look at every point.
#include <doctest/doctest.h>

#include "server/random_world.hpp"

using namespace sidestream;

namespace {

/// The views of one server, from values that a transport would bring.
struct Server {
  std::shared_ptr<const BlockAssignment> movement;
  ExchangePlan plan;
  std::deque<Bytes> memory{};
  std::vector<ArrayView> values{};
  Views views{};

  Server(const testing::RandomWorld& world, std::shared_ptr<const BlockAssignment> given, int server, int servers,
         bool values_in_place)
      : movement(std::move(given)),
        plan(world.metadata, world.table, movement, {server, servers, values_in_place},
             [&, cache = std::map<std::pair<int, std::int64_t>, std::vector<Box>>()](
                 const Variable& v, const Block& b) mutable -> const std::vector<Box>& {
               return cache.try_emplace({v.id, b.id}, world.owned(v, b)).first->second;
             }) {
    for (const Wanted& wanted : plan.wanted()) {
      const Variable& variable = world.metadata.variables[static_cast<std::size_t>(wanted.variable)];
      const Box points = variable.points(wanted.block);
      REQUIRE(points.contains(wanted.points));
      ArrayView array = testing::fill(variable, wanted.points, points, wanted.block.id, memory);
      if (world.undelivered.contains(wanted.block.id)) array.data = nullptr;
      values.push_back(array);
    }
    views = plan.views(values);
  }
};

/// Gives whole blocks to servers in turn, as a partitioner may.
PartitionerKind in_turn() {
  PartitionerKind kind;
  kind.name = "in turn";
  kind.plan = [](const PlanInput& input, const Settings&) {
    Plan plan;
    for (std::size_t b = 0; b < input.blocks.size(); ++b) {
      plan.pieces.push_back(
          {static_cast<std::int64_t>(b), static_cast<std::int32_t>(b) % input.servers, 0, input.blocks[b].block.cells});
    }
    return plan;
  };
  return kind;
}

}  // namespace

TEST_CASE("views are right for any mesh, blocks, servers and selection") {
  std::mt19937 random(11);
  for (int round = 0; round < 150; ++round) {
    const int servers = 1 + round % 5;
    const testing::RandomWorld world(random, servers, testing::every_centering[static_cast<std::size_t>(round) % 8]);
    const std::vector<Selected> selection = testing::random_selection(random, world);
    const PartitionerKind kind = in_turn();
    AssignmentRules rules;
    rules.partitioner = &kind;
    const Planner planner(world.metadata, rules);
    const bool values_in_place = round % 2 == 1;
    for (const Variable& variable : world.metadata.variables) {
      // Every existing point counts in exactly one piece of each decomposition.
      std::map<std::size_t, std::map<Index3, int>> counted;
      for (int server = 0; server < servers; ++server) {
        const Server one(world,
                         values_in_place ? planner.keep(world.table, selection, server)
                                         : planner.plan(world.table, selection, {}, {}, {}, servers, server),
                         server, servers, values_in_place);
        if (variable.id == 0) testing::check_views(world, selection, one.views, *one.movement, servers, server);
        for (std::size_t n = 0; n < one.views.pieces.size(); ++n) {
          if (one.views.pieces[n].selected.variable != variable.id) continue;
          for (const BlockView& view : one.views.pieces[n].views) {
            for (const Box& box : view.counted()) {
              testing::for_each_point(box, [&](const Index3& p) { ++counted[n][p]; });
            }
          }
        }
      }
      for (const auto& [n, times] : counted) {
        std::size_t there = 0;
        testing::for_each_point(variable.points(world.mesh().cells),
                                [&](const Index3& p) { there += world.expected(variable, p, 0, false).has_value(); });
        CHECK(times.size() == there);
        for (const auto& [p, count] : times) CHECK(count == 1);
      }
    }
  }
}

TEST_CASE("what several views want moves once") {
  // One block of another server. Its values are wanted with a halo, in slabs and in bricks.
  Metadata metadata;
  metadata.meshes.push_back({0, "grid", {{0, 0, 0}, {8, 8, 8}}, 3, nullptr});
  metadata.meshes[0].periodic = {true, true, true};
  Variable variable;
  variable.id = 0;
  variable.mesh = 0;
  metadata.variables.push_back(variable);
  PlacedBlock placed;
  placed.block.cells = metadata.meshes[0].cells;
  placed.server = 1;
  const BlockTable table({placed});
  const Planner planner(metadata, {});
  const std::vector<Selected> selection{{0, 1, AllBlocks{}, Decomposition::slabs(2)},
                                        {0, 0, AllBlocks{}, Decomposition::bricks()},
                                        {0, 0, AllBlocks{}, Decomposition::slabs(2)}};
  const std::vector<Box> all{metadata.meshes[0].cells};
  const ExchangePlan plan(metadata, table, planner.keep(table, selection, 0), {0, 2, true},
                          [&](const Variable&, const Block&) -> const std::vector<Box>& { return all; });
  std::set<Index3> seen;
  std::size_t points = 0;
  for (const Wanted& wanted : plan.wanted()) {
    testing::for_each_point(wanted.points, [&](const Index3& p) { seen.insert(p), ++points; });
  }
  CHECK(points == seen.size());
  CHECK(points == 8 * 8 * 6);  // four layers of cells and one on each side; the brick lies within
}
