// Plans for a mesh of 8192 cubed cells in blocks of 4096 cubed: more than 2^32 elements in each, more than 2^43 bytes
// in all. Only sizes are computed; no such memory exists.
#include <doctest/doctest.h>

#include <deque>
#include <memory>
#include <vector>

#include "server/redistribution/block_assignment.hpp"
#include "server/redistribution/block_table.hpp"
#include "server/redistribution/exchange_plan.hpp"
#include "sidestream/data/catalogue.hpp"

using namespace sidestream;

namespace {

constexpr Index n = 4096;
constexpr std::uint64_t u = 4096;

/// Variables: t has 3 doubles in every cell, p 1 float at every node.
Metadata huge_metadata() {
  Metadata metadata;
  metadata.meshes.push_back({0,
                             "grid",
                             {{0, 0, 0}, {2 * n, 2 * n, 2 * n}},
                             3,
                             std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0})});
  Variable variable;
  variable.id = 0;
  variable.name = "t";
  variable.mesh = 0;
  variable.components = 3;
  metadata.variables.push_back(variable);
  variable.id = 1;
  variable.name = "p";
  variable.components = 1;
  variable.type = Type::float32;
  variable.centering = Centering::node;
  metadata.variables.push_back(variable);
  return metadata;
}

/// Eight blocks, i fastest, so that the first four are the lower half in k.
BlockTable huge_table() {
  std::vector<PlacedBlock> blocks;
  for (std::int64_t id = 0; id < 8; ++id) {
    PlacedBlock placed;
    placed.block.id = id;
    placed.block.client = static_cast<std::int32_t>(id);
    const Index3 lo{id % 2 * n, id / 2 % 2 * n, id / 4 * n};
    placed.block.cells = {lo, {lo[0] + n, lo[1] + n, lo[2] + n}};
    blocks.push_back(placed);
  }
  return BlockTable(blocks);
}

/// Gives halves of the list to two servers, and notes the bytes that it was given.
PartitionerKind halves(std::vector<std::uint64_t>& bytes) {
  PartitionerKind kind;
  kind.name = "halves";
  kind.plan = [&bytes](const PlanInput& input, const Settings&) {
    Plan plan;
    bytes.clear();
    for (std::size_t b = 0; b < input.blocks.size(); ++b) {
      bytes.push_back(input.blocks[b].bytes);
      plan.pieces.push_back(
          {static_cast<std::int64_t>(b), 2 * b >= input.blocks.size(), 0, input.blocks[b].block.cells});
    }
    return plan;
  };
  return kind;
}

}  // namespace

TEST_CASE("bytes of huge blocks are counted whole, from the plan to what analyses see") {
  const Metadata metadata = huge_metadata();
  const BlockTable table = huge_table();
  std::vector<std::uint64_t> told;
  const PartitionerKind kind = halves(told);
  AssignmentRules rules;
  rules.partitioner = &kind;
  const Planner planner(metadata, rules);
  const std::uint64_t t_bytes = u * u * u * 24, p_bytes = (u + 1) * (u + 1) * (u + 1) * 4;
  Index owned_cells = 0, owned_nodes = 0;
  for (const int server : {0, 1}) {
    const auto movement = planner.plan(table, {Selected(0, 2), Selected(1)}, {}, {}, {}, 2, server);
    REQUIRE(movement->pieces.size() == 4);
    REQUIRE(told == std::vector<std::uint64_t>(8, t_bytes + p_bytes));
    std::deque<std::vector<Box>> owned;
    const ExchangePlan plan(metadata, table, movement, {server, 2, false},
                            [&](const Variable& v, const Block& b) -> const std::vector<Box>& {
                              return owned.emplace_back(table.owned(v, b));
                            });
    const std::byte there{};
    std::vector<ArrayView> values;
    for (const Wanted& wanted : plan.wanted()) {
      const Variable& variable = metadata.variables[static_cast<std::size_t>(wanted.variable)];
      values.push_back({&there, variable.type, MemorySpace::host, wanted.points, variable.components,
                        packed_strides(wanted.points, variable.components, variable.order)});
    }
    const ExchangePlan::Amount bytes = plan.count(values);
    CHECK(bytes.blocks == 8);
    CHECK(bytes.pieces == 4 * (t_bytes + p_bytes));
    CHECK(bytes.layers == 2 * u * 2 * u * 2 * 24);  // two cells deep, between the servers
    const auto views = plan.views(values).blocks;
    for (const BlockView& view : views[0]) {
      CHECK(view.array.strides == std::array<Index, 4>{3, 3 * n, 3 * n * n, 1});
      for (const Box& box : view.owned) owned_cells += box.count();
    }
    for (const BlockView& view : views[1]) {
      for (const Box& box : view.owned) owned_nodes += box.count();
    }
  }
  CHECK(owned_cells == 8 * n * n * n);
  CHECK(owned_nodes == (2 * n + 1) * (2 * n + 1) * (2 * n + 1));
}

TEST_CASE("a plane and a box find their blocks among huge ones") {
  const Metadata metadata = huge_metadata();
  const BlockTable table = huge_table();
  const Needs needs(metadata, table.blocks(), {});
  const std::vector<bool> upper = needs.of(Selected(0, 0, PlaneCut{{0, 0, n + 1.0}, {0, 0, 1}}));
  CHECK(upper == std::vector<bool>{false, false, false, false, true, true, true, true});
  const std::vector<bool> corner = needs.of(Selected(0, 0, InBox{{{n, n, n}, {2 * n, 2 * n, 2 * n}}}));
  CHECK(corner == std::vector<bool>{false, false, false, false, false, false, false, true});
}

TEST_CASE("a part of a huge block has its own size") {
  const Metadata metadata = huge_metadata();
  const BlockTable table = huge_table();
  const Block& block = table.blocks()[7];
  Box piece = block.cells;
  piece.hi[2] -= 1;
  const Variable& p = metadata.variables[1];
  Index points = 0;
  for (const Box& box : owned_by_piece(p, block, piece, {p.points(block.cells)})) points += box.count();
  CHECK(points == (n + 1) * (n + 1) * (n - 1));
  CHECK(bytes_of(p, block) == (u + 1) * (u + 1) * (u + 1) * 4);
}
