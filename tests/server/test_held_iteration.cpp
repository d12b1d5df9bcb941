// The iteration that servers keep for requests: its values, arrays that do not vary in time, blocks that go, and memory
// that runs out on one server.
#include <doctest/doctest.h>
#include <mpi.h>

#include <functional>
#include <numeric>
#include <utility>

#include "base/mpi/communicator.hpp"
#include "server/engine/guarded_communicator.hpp"
#include "server/engine/held_iteration.hpp"
#include "support/faults.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

namespace {

/// Values of line blocks with two ghosts, in place or not.
class Lines final : public ServerTransport {
 public:
  explicit Lines(bool in_place) : ServerTransport({1, in_place}) {}

  /// Publishes variable 0 on blocks, and variable 1, which does not vary in time, if `anew`.
  void publish(const std::vector<std::int64_t>& ids, std::int64_t index, bool anew) {
    inbox_.blocks.clear();
    values_.clear();
    for (const std::int64_t id : ids) add(inbox_.blocks, id, 0, index, static_cast<double>(100 * index + id));
    if (!anew) return;
    tables_.persistent.clear();
    still_.clear();
    for (const std::int64_t id : ids) add(tables_.persistent, id, 1, index, static_cast<double>(-id));
  }

  bool receive(std::chrono::microseconds) override { return false; }
  ServerState state(std::int64_t) override { return {inbox_, tables_}; }
  void post_failure(const std::string&) override {}
  bool notify(const Notice&) override { return false; }
  void advance(std::int64_t) override {}
  std::vector<const std::byte*> fetch(std::int64_t, std::span<const Wanted> wanted, bool) override {
    std::vector<const std::byte*> found;
    for (const Wanted& one : wanted) {
      fetched += 1;
      auto& memory = one.variable == 0 ? values_ : still_;
      found.push_back(reinterpret_cast<const std::byte*>(memory.at(one.block.id).data()));
    }
    return found;
  }
  MeasuredRanges ranges(std::int64_t, std::span<const RangeRequest>, std::span<const RangeRegion>) override {
    return {};
  }
  void release(std::int64_t, Outcome) override {}
  void finish(const std::string&) override {}

  int fetched = 0;

 private:
  void add(std::vector<Arrival>& to, std::int64_t id, std::int32_t variable, std::int64_t since, double value) {
    auto& memory = variable == 0 ? values_ : still_;
    memory[id].assign(static_cast<std::size_t>(id + 2), value);
    Arrival& arrival = to.emplace_back();
    arrival.record.block.id = id;
    arrival.record.block.cells = {{0, 0, 0}, {id, 1, 1}};
    arrival.record.variable = variable;
    arrival.record.box = {{-1, 0, 0}, {id + 1, 1, 1}};
    arrival.record.bytes = memory[id].size() * sizeof(double);
    arrival.record.persistent = variable == 1;
    arrival.since = since;
    if (traits().values_in_place) arrival.data = reinterpret_cast<const std::byte*>(memory[id].data());
  }

  Inbox inbox_;
  ServerTables tables_;
  std::map<std::int64_t, std::vector<double>> values_, still_;
};

Metadata two_variables() {
  Metadata metadata;
  metadata.variables.resize(3);
  for (std::int32_t v = 0; v < 3; ++v) metadata.variables[static_cast<std::size_t>(v)].id = v;
  return metadata;
}

Agreement of(std::int64_t index) {
  Agreement agreement;
  agreement.at.index = index;
  return agreement;
}

/// The sum of all held values of blocks that are read anew from the copies.
double sum_of(HeldIteration& held) {
  double sum = 0;
  const ServerState state = held.state(0);
  for (const auto* const some : {&state.inbox.blocks, &std::as_const(state.tables.persistent)}) {
    for (const Arrival& one : *some) {
      const auto* const values = reinterpret_cast<const double*>(one.data);
      sum += std::accumulate(values, values + one.record.bytes / sizeof(double), 0.0);
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("the copies are those of the iteration, and stay when the transport's memory changes") {
  MpiCommunicator servers(testing::test_ranks());
  for (const bool in_place : {true, false}) {
    Lines lines(in_place);
    HeldIteration held({0, 1}, two_variables());
    CHECK(held.held() == nullptr);
    lines.publish({2, 3}, 5, true);
    held.keep(lines, of(5), servers);
    REQUIRE(held.held() != nullptr);
    CHECK(held.held()->at.index == 5);
    const double expected = 4 * 502 + 5 * 503 - 4 * 2 - 5 * 3;
    CHECK(sum_of(held) == expected);
    const int before = lines.fetched;
    lines.publish({3, 4}, 6, false);
    CHECK(sum_of(held) == expected);
    held.keep(lines, of(6), servers);
    CHECK(sum_of(held) == 5 * 603 + 6 * 604 - 4 * 2 - 5 * 3);
    CHECK(lines.fetched - before == (in_place ? 0 : 2));  // what does not vary in time came before
    held.clear();
    CHECK(held.held() == nullptr);
    CHECK(sum_of(held) == 0);
  }
}

TEST_CASE("variables that are not named are not kept") {
  MpiCommunicator servers(testing::test_ranks());
  Lines lines(true);
  lines.publish({1}, 0, true);
  HeldIteration held({0}, two_variables());
  held.keep(lines, of(0), servers);
  CHECK(held.keeps(0));
  CHECK(!held.keeps(1));
  CHECK(sum_of(held) == 3 * 1);
}

TEST_CASE("ranges are those of the held values, without ghosts") {
  MpiCommunicator servers(testing::test_ranks());
  Lines lines(false);
  lines.publish({2, 3}, 1, true);
  HeldIteration held({0}, two_variables());
  held.keep(lines, of(1), servers);
  const std::vector<RangeRequest> requests{{0, 0}, {1, 0}};
  std::vector<RangeRegion> regions(2);
  regions[0].block = 3;
  regions[0].variable = 0;
  regions[0].points = {{0, 0, 0}, {100, 1, 1}};
  regions[1].block = 3;
  regions[1].variable = 1;  // not held
  regions[1].points = regions[0].points;
  const MeasuredRanges measured = held.ranges(1, requests, regions);
  const std::vector<BlockRange>& found = measured.blocks;
  REQUIRE(measured.regions.size() == 2);
  CHECK(measured.regions[0].maximum >= 103);
  CHECK(measured.regions[1].empty());
  REQUIRE(found.size() == 2);
  CHECK(found[0].block == 2);
  CHECK(found[0].all.minimum == 102);
  CHECK(found[1].all.maximum == 103);
}

TEST_CASE("memory that runs out on one server is an error on all, and the next iteration is held again") {
  MpiCommunicator servers(testing::test_ranks());
  for (const bool in_place : {true, false}) {
    std::int64_t reached = 1;
    for (long n = 1; reached != 0; ++n) {
      Lines lines(in_place);
      lines.publish({2, 3}, 1, true);
      HeldIteration held({0, 1}, two_variables());
      GuardedCommunicator guarded(servers);
      const Agreement agreement = of(1);
      const auto keep = [&] { held.keep(lines, agreement, guarded); };
      std::int64_t failed = 0;
      {
        const testing::FailingAllocation fault(servers.rank() == 0 ? n : 0);
        failed = guarded.attempt(std::cref(keep)).empty() ? 0 : 1;
        reached = sidestream_test_allocation_failed();
      }
      std::int64_t most = failed;
      servers.maximum(std::span(&most, 1));
      servers.maximum(std::span(&reached, 1));
      REQUIRE(failed == most);
      if (failed) held.drop();
      CHECK((held.held() == nullptr) == (failed != 0));
      lines.publish({2, 3}, 2, true);
      held.keep(lines, of(2), servers);
      CHECK(sum_of(held) == 4 * 202 + 5 * 203 - 4 * 2 - 5 * 3);
    }
  }
}
