// Arrays that cover more than their blocks: which ghosts move, and which values are read, compared with a look at every
// point. Ghosts hold values that no other block has, so that they show where a value was read.
#include <doctest/doctest.h>

#include "server/random_world.hpp"

using namespace sidestream;

namespace {

using Key = std::pair<std::int32_t, std::int64_t>;  ///< a variable on a block

struct GhostWorld : testing::RandomWorld {
  std::map<Key, Box> allocated;  ///< arrays of other blocks cover only the block

  GhostWorld(std::mt19937& random, int servers, Centering centering) : RandomWorld(random, servers, centering) {
    const auto any = [&](Index lo, Index hi) { return std::uniform_int_distribution<Index>(lo, hi)(random); };
    for (Variable& variable : metadata.variables) {
      variable.filled = any(0, 2) > 0;
      for (const Block& block : table.blocks()) {
        if (any(0, 3) == 0) continue;
        Box box = variable.points(block);
        for (std::size_t a = 0; a < 3; ++a) box.lo[a] -= any(0, 3), box.hi[a] += any(0, 3);
        allocated[{variable.id, block.id}] = box;
      }
    }
  }
  [[nodiscard]] Box covered(const Variable& variable, const Block& block) const {
    const auto known = allocated.find({variable.id, block.id});
    return known == allocated.end() ? variable.points(block) : known->second;
  }
};

/// Gives blocks to servers in turn. Every other one is cut, along the first axis on which this is possible.
PartitionerKind cutting() {
  PartitionerKind kind;
  kind.name = "cutting";
  kind.plan = [](const PlanInput& input, const Settings&) {
    Plan plan;
    for (std::size_t b = 0; b < input.blocks.size(); ++b) {
      const auto at = static_cast<std::int64_t>(b);
      const auto server = static_cast<std::int32_t>(b) % input.servers;
      Box low = input.blocks[b].block.cells, high = low;
      int axis = 0;
      while (axis < 2 && low.extent(axis) < 2) ++axis;
      const auto a = static_cast<std::size_t>(axis);
      const bool cut = b % 2 == 0 && input.servers > 1 && low.extent(axis) > 1;
      if (cut) low.hi[a] = high.lo[a] = low.lo[a] + low.extent(axis) / 2;
      plan.pieces.push_back({at, server, 0, low});
      if (cut) plan.pieces.push_back({at, (server + 1) % input.servers, 0, high});
    }
    return plan;
  };
  return kind;
}

struct Server {
  const GhostWorld& world;
  std::shared_ptr<const BlockAssignment> movement;
  ExchangePlan plan;
  std::deque<Bytes> memory{};
  std::vector<ArrayView> values{};
  Views views{};

  Server(const GhostWorld& of, std::shared_ptr<const BlockAssignment> given, int server, int servers,
         bool values_in_place)
      : world(of),
        movement(std::move(given)),
        plan(
            world.metadata, world.table, movement, {server, servers, values_in_place},
            [this, cache = std::map<Key, std::vector<Box>>()](const Variable& v,
                                                              const Block& b) mutable -> const std::vector<Box>& {
              return cache.try_emplace({v.id, b.id}, world.owned(v, b)).first->second;
            },
            [this](const Variable& v, const Block& b) { return world.covered(v, b); }) {
    for (std::size_t n = 0; n < plan.wanted().size(); ++n) {
      const Wanted& wanted = plan.wanted()[n];
      const Variable& variable = world.metadata.variables[static_cast<std::size_t>(wanted.variable)];
      const Box all = world.covered(variable, wanted.block);
      REQUIRE(all.contains(wanted.points));
      const bool here = values_in_place && plan.holders()[n] == server;
      const Box box = here ? all : wanted.points;
      ArrayView array = testing::fill(variable, box, box, wanted.block.id, memory);
      if (world.undelivered.contains(wanted.block.id)) array.data = nullptr;
      values.push_back(array);
    }
    views = plan.views(values);
  }
};

/// The box that a view covers by the rule. A whole block has all allocated ghosts; a part has those on its sides of the
/// block.
Box reach_of(const GhostWorld& world, const Variable& variable, const BlockView& view, const Block& whole) {
  Box box = world.covered(variable, whole);
  for (int a = 0; a < 3; ++a) {
    const auto n = static_cast<std::size_t>(a);
    const bool used = a < world.mesh().dimensions;
    if (!used || view.block.cells.lo[n] != whole.cells.lo[n]) box.lo[n] = view.points.lo[n];
    if (!used || view.block.cells.hi[n] != whole.cells.hi[n]) box.hi[n] = view.points.hi[n];
  }
  return box;
}

const Block& block_of(const GhostWorld& world, const BlockAssignment& movement, const BlockView& view) {
  for (const BlockAssignment::Piece& piece : movement.pieces) {
    if (piece.id == view.block.id) return world.table.blocks()[static_cast<std::size_t>(piece.block)];
  }
  throw std::logic_error("a view of no block");
}

/// Checks all points round a view. They come from its own array if that may be read, otherwise from the owner.
void check_view(const GhostWorld& world, const Selected& selected, const BlockAssignment& movement,
                const BlockView& view) {
  const Variable& variable = world.metadata.variables[static_cast<std::size_t>(selected.variable)];
  const Block& whole = block_of(world, movement, view);
  const Box reach = reach_of(world, variable, view, whole);
  if (selected.ghosts) {
    for (int a = 0; a < world.mesh().dimensions; ++a) {
      const auto n = static_cast<std::size_t>(a);
      CHECK((view.array.box.lo[n] <= reach.lo[n] && view.array.box.hi[n] >= reach.hi[n]));
    }
  }
  const Box region = grown(view.points, selected.halo + 1), halo = grown(view.points, selected.halo);
  const Box mesh = variable.points(world.mesh().cells);
  for (int c = 0; c < variable.components; ++c) {
    std::vector<double> values(static_cast<std::size_t>(region.count()));
    static_cast<void>(view.gather(region, c, values.data()));
    std::size_t n = 0;
    testing::for_each_point(region, [&](const Index3& p) {
      const double found = values[n++];
      const Index3 q = world.inside(variable, p, selected.wrap);
      std::optional<std::int64_t> owner;
      for (const Block& block : world.table.blocks()) {
        if (variable.points(block).contains(q) && (!owner || block.id < *owner)) owner = block.id;
      }
      const bool there = halo.contains(p) && owner && (selected.halo > 0 || view.points.contains(p));
      std::optional<double> right;
      if (there && variable.filled && selected.halo > 0 && reach.contains(p)) {
        right = GhostWorld::value(p, c, whole.id);
      } else if (there && !world.undelivered.contains(*owner) && (selected.halo > 0 || *owner == whole.id)) {
        right = GhostWorld::value(q, c, *owner);
      }
      // Without a halo the nodes of the other part are not available.
      if (selected.halo == 0 && right && std::isnan(found)) return;
      if (!mesh.contains(q)) right.reset();
      if (right ? found != *right : !std::isnan(found)) {
        FAIL_CHECK("block " << view.block.id << " at " << p[0] << " " << p[1] << " " << p[2] << ": " << found);
      }
    });
  }
}

}  // namespace

TEST_CASE("ghosts move if they are wanted, and are read if they are declared filled") {
  std::mt19937 random(31);
  for (int round = 0; round < 200; ++round) {
    const int servers = 1 + round % 5;
    const GhostWorld world(random, servers, testing::every_centering[static_cast<std::size_t>(round) % 8]);
    std::vector<Selected> selection;
    for (std::int32_t v = 0; v < 2; ++v) {
      Selected& selected = selection.emplace_back(v, static_cast<std::int32_t>(random() % 4));
      selected.wrap = random() % 3 > 0;
      selected.ghosts = random() % 2 > 0;
    }
    const PartitionerKind kind = cutting();
    AssignmentRules rules;
    rules.partitioner = &kind;
    const Planner planner(world.metadata, rules);
    const bool values_in_place = round % 2 == 1;
    for (int server = 0; server < servers; ++server) {
      const Server one(world,
                       values_in_place ? planner.keep(world.table, selection, server)
                                       : planner.plan(world.table, selection, {}, {}, {}, servers, server),
                       server, servers, values_in_place);
      for (const Selected& selected : selection) {
        for (const BlockView& view : one.views.blocks[static_cast<std::size_t>(selected.variable)]) {
          check_view(world, selected, *one.movement, view);
        }
      }
    }
  }
}

TEST_CASE("nothing moves for a halo that ghosts cover") {
  std::mt19937 random(32);
  for (int round = 0; round < 60; ++round) {
    const int servers = 1 + round % 4;
    GhostWorld world(random, servers, testing::every_centering[static_cast<std::size_t>(round) % 8]);
    const bool values_in_place = round % 2 == 1;
    const std::int32_t halo = 1 + round % 3;
    for (Variable& variable : world.metadata.variables) {
      variable.filled = true;
      for (const Block& block : world.table.blocks()) {
        world.allocated[{variable.id, block.id}] = grown(variable.points(block), 3);
      }
    }
    const Planner planner(world.metadata, {});
    for (int server = 0; server < servers; ++server) {
      const Server one(world, planner.keep(world.table, {{0, halo}, {1, 0}}, server), server, servers, values_in_place);
      CHECK(one.plan.count(one.values).layers == 0);
      // Only the layer that is wanted comes with its block.
      for (const Wanted& wanted : one.plan.wanted()) {
        const Variable& variable = world.metadata.variables[static_cast<std::size_t>(wanted.variable)];
        Box expected = variable.points(wanted.block);
        for (int a = 0; a < world.mesh().dimensions && wanted.variable == 0; ++a) {
          expected.lo[static_cast<std::size_t>(a)] -= halo;
          expected.hi[static_cast<std::size_t>(a)] += halo;
        }
        CHECK(wanted.points == expected);
      }
    }
  }
}
