// Views that are reused in the next iteration equal views that are made anew. Blocks come and go, some are not
// published, the order of publication changes, and other tasks are due.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/mpi/communicator.hpp"
#include "server/engine/assembler.hpp"
#include "support/ranks.hpp"
#include "transport/in_process/transport.hpp"

using namespace sidestream;

namespace {

constexpr Index cells = 4;  ///< cells of a block along i

Metadata metadata_of_line() {
  Metadata metadata;
  Mesh mesh;
  mesh.id = 0;
  mesh.name = "line";
  mesh.dimensions = 1;
  mesh.cells = {{0, 0, 0}, {100 * cells, 1, 1}};
  metadata.meshes.push_back(mesh);
  for (const char* name : {"a", "b", "kept"}) {
    Variable variable;
    variable.id = static_cast<std::int32_t>(metadata.variables.size());
    variable.name = name;
    variable.mesh = 0;
    variable.time_varying = variable.name != "kept";
    metadata.variables.push_back(variable);
  }
  return metadata;
}

/// The client and the server end of a rank. Block n covers the n-th group of cells.
struct Rank {
  const Metadata& metadata;
  std::mt19937 random;
  int rank, size;
  InProcessTransport transport{1u << 20, WhenFull::wait};
  std::set<std::int64_t> blocks{};

  [[nodiscard]] bool chance(int in) { return std::uniform_int_distribution<int>(1, in)(random) == 1; }
  [[nodiscard]] Block block(std::int64_t id) const {
    Block block;
    block.id = id;
    block.client = rank;
    block.cells = {{id * cells, 0, 0}, {(id + 1) * cells, 1, 1}};
    return block;
  }
  [[nodiscard]] static double value(std::int32_t variable, Index i, std::int64_t index) {
    return 1e6 * variable + 1e3 * static_cast<double>(index % 1000) + static_cast<double>(i);
  }
  void change_blocks() {
    for (std::int64_t id = rank; id < 6 * size; id += size) {
      if (!chance(3)) continue;
      const bool there = blocks.contains(id);
      transport.declare(block(id), there);
      if (there) {
        blocks.erase(id);
      } else {
        blocks.insert(id);
      }
    }
  }
  void publish_one(std::int32_t variable, std::int64_t id, std::int64_t index) {
    BlockRecord record;
    record.block = block(id);
    record.variable = variable;
    record.box = record.block.cells;
    record.bytes = cells * sizeof(double);
    record.persistent = metadata.variables[static_cast<std::size_t>(variable)].time_varying ? 0 : 1;
    const auto region = transport.reserve(record.bytes, record.persistent != 0);
    REQUIRE(region);
    auto* values = static_cast<double*>(static_cast<void*>(region->data));
    for (Index n = 0; n < cells; ++n) values[n] = value(variable, id * cells + n, index);
    transport.commit(record, *region, false);
  }
  void publish(std::int64_t index, bool shuffled) {
    std::vector<std::pair<std::int32_t, std::int64_t>> all;
    for (const std::int64_t id : blocks) {
      for (const std::int32_t variable : {0, 1}) all.emplace_back(variable, id);
      if (chance(4)) all.emplace_back(2, id);
    }
    if (shuffled) std::shuffle(all.begin(), all.end(), random);
    if (!all.empty() && chance(4)) all.pop_back();  // one is not there this time
    for (const auto& [variable, id] : all) publish_one(variable, id, index);
    transport.end({{index, index, 0}, 0, 0, 0, 0, rank});
  }
};

Demand demand_of(std::size_t task, std::int32_t halo) {
  Demand demand;
  demand.tasks = {task};
  for (const std::int32_t variable : {0, 1, 2}) demand.selection.emplace_back(variable, halo);
  return demand;
}

bool same_box_list(const std::vector<HaloPiece>& a, const std::vector<HaloPiece>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const HaloPiece& p, const HaloPiece& q) { return p.box == q.box; });
}

/// Checks that both show the same values at the same places.
void compare(const Views& found, const Views& expected, std::int64_t index) {
  REQUIRE(found.blocks.size() == expected.blocks.size());
  for (std::size_t v = 0; v < found.blocks.size(); ++v) {
    REQUIRE(found.blocks[v].size() == expected.blocks[v].size());
    for (std::size_t n = 0; n < found.blocks[v].size(); ++n) {
      const BlockView &a = found.blocks[v][n], &b = expected.blocks[v][n];
      CHECK(a.block == b.block);
      CHECK(a.array.data == b.array.data);
      CHECK(a.array.box == b.array.box);
      CHECK(a.owned == b.owned);
      CHECK(a.covered == b.covered);
      CHECK(same_box_list(a.halo, b.halo));
      if (v == 2) continue;
      for (Index i = a.points.lo[0]; i < a.points.hi[0]; ++i) {
        CHECK(*a.array.at<double>(i, 0, 0) == Rank::value(static_cast<std::int32_t>(v), i, index));
      }
    }
  }
}

}  // namespace

TEST_CASE("views that are used again are those that would be made anew") {
  MpiCommunicator servers(testing::test_ranks());
  const Metadata metadata = metadata_of_line();
  PartitionerKind partitioner;
  const AssignmentRules rules{&partitioner, {}, false};
  Rank mine{metadata, std::mt19937(7u + static_cast<unsigned>(servers.rank())), servers.rank(), servers.size()};
  std::mt19937 same(11);  // the same on all
  Assembler assembler(metadata, servers, rules);
  for (std::int64_t index = 0; index < 200; ++index) {
    const auto choose = [&](int in) { return std::uniform_int_distribution<int>(1, in)(same) == 1; };
    const bool changes = index == 0 || choose(10), shuffled = choose(5), halo = choose(6);
    if (changes) mine.change_blocks();
    mine.publish(index, shuffled);
    mine.transport.advance(index);
    ServerTables& tables = mine.transport.state(index).tables;
    std::int64_t changed = tables.changes.empty() ? 0 : 1;
    servers.maximum(std::span(&changed, 1));
    if (changed) assembler.update(tables);
    const Demand demand = demand_of(halo ? 1 : 0, halo ? 1 : 0);
    const Assembled& found = assembler.assemble(mine.transport, index, demand);
    Assembler fresh(metadata, servers, rules);
    fresh.invalidate();
    fresh.update(tables);
    compare(found.views, fresh.assemble(mine.transport, index, demand).views, index);
    assembler.end();
    mine.transport.release(index, Outcome::delivered);
  }
}

TEST_CASE("an iteration can be assembled for several demands, one after the other") {
  MpiCommunicator servers(testing::test_ranks());
  const Metadata metadata = metadata_of_line();
  PartitionerKind partitioner;
  Rank mine{metadata, std::mt19937(3), servers.rank(), servers.size()};
  Assembler assembler(metadata, servers, {&partitioner, {}, false});
  for (std::int64_t index = 0; index < 5; ++index) {
    if (index == 0) mine.change_blocks();
    mine.publish(index, false);
    mine.transport.advance(index);
    ServerTables& tables = mine.transport.state(index).tables;
    if (index == 0) assembler.update(tables);
    for (const std::size_t task : {0, 1, 0}) {
      const Demand demand = demand_of(task, static_cast<std::int32_t>(task));
      const Assembled& found = assembler.assemble(mine.transport, index, demand);
      Assembler fresh(metadata, servers, {&partitioner, {}, false});
      fresh.invalidate();
      fresh.update(tables);
      compare(found.views, fresh.assemble(mine.transport, index, demand).views, index);
    }
    mine.transport.release(index, Outcome::delivered);
  }
}
