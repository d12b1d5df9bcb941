// Servers that have their clients' values in memory. Each sees the values that a look at every block gives, for any
// number of servers.
#include <doctest/doctest.h>
#include <mpi.h>

#include "base/mpi/communicator.hpp"
#include "server/engine/guarded_communicator.hpp"
#include "server/random_world.hpp"
#include "server/redistribution/local_values.hpp"
#include "support/faults.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

namespace {

/// The arrays, with wrong ghosts, that the clients of a server published.
struct Published {
  std::deque<Bytes> memory;
  std::vector<Arrival> arrivals, persistent;

  Published(const testing::RandomWorld& world, int server) {
    for (const Variable& variable : world.metadata.variables) {
      for (std::size_t b = 0; b < world.table.blocks().size(); ++b) {
        const Block& block = world.table.blocks()[b];
        if (world.table.server(static_cast<std::int64_t>(b)) != server || world.undelivered.contains(block.id))
          continue;
        const Box points = variable.points(block);
        const ArrayView array = testing::fill(variable, grown(points, world.ghosts), points, block.id, memory);
        Arrival arrival;
        arrival.record.block = block;
        arrival.record.variable = variable.id;
        arrival.record.components = variable.components;
        arrival.record.type = variable.type;
        arrival.record.order = variable.order;
        arrival.record.box = array.box;
        arrival.record.centering = variable.centering;
        arrival.data = static_cast<const std::byte*>(array.data);
        (variable.id == 0 ? arrivals : persistent).push_back(arrival);
      }
    }
  }
};

struct OnServer {
  std::shared_ptr<const BlockAssignment> movement;
  ExchangePlan redistribution;

  OnServer(const testing::RandomWorld& world, const std::vector<Selected>& selection, int server, int servers)
      : movement(Planner(world.metadata, {}).keep(world.table, selection, server)),
        redistribution(world.metadata, world.table, movement, {server, servers, true},
                       [&, cache = std::map<std::pair<int, std::int64_t>, std::vector<Box>>()](
                           const Variable& v, const Block& b) mutable -> const std::vector<Box>& {
                         return cache.try_emplace({v.id, b.id}, world.owned(v, b)).first->second;
                       }) {}
};

}  // namespace

TEST_CASE("halos and pieces from servers that have blocks at hand") {
  MpiCommunicator servers(testing::test_ranks());
  std::mt19937 random(21);  // the same everywhere
  for (int round = 0; round < 40; ++round) {
    const testing::RandomWorld world(random, servers.size(),
                                     testing::every_centering[static_cast<std::size_t>(round) % 8]);
    const std::vector<Selected> selection = testing::random_selection(random, world);
    const OnServer one(world, selection, servers.rank(), servers.size());
    const LocalValues values(world.metadata, one.redistribution.wanted(), one.redistribution.holders(), servers);
    for (int iteration = 0; iteration < 2; ++iteration) {
      const Published published(world, servers.rank());
      const LocalValues::Result got = values.get(published.arrivals, published.persistent, servers);
      const Views views = one.redistribution.views(got.values);
      testing::check_views(world, selection, views, *one.movement, servers.size(), servers.rank());
      CHECK(got.messages.size() < static_cast<std::size_t>(servers.size()));
      std::set<int> senders;
      for (const MemberMessage& message : got.messages) senders.insert(message.member);
      CHECK(senders.size() == got.messages.size());  // one message from each
    }
  }
}

TEST_CASE("where memory ends on one server all are told, and can go on") {
  MpiCommunicator inner(testing::test_ranks());
  GuardedCommunicator servers(inner);
  std::mt19937 random(23);
  const testing::RandomWorld world(random, inner.size(), Centering::node);
  const std::vector<Selected> selection = testing::random_selection(random, world);
  const int failing = 0;  // this server has a piece, however many servers there are
  bool over = false;
  std::int64_t failures = 0;
  for (long n = 1; !over; ++n) {
    const Published published(world, inner.rank());
    std::string failure;
    std::int64_t failed = 0;
    const auto work = [&] {
      const OnServer one(world, selection, inner.rank(), inner.size());
      const LocalValues values(world.metadata, one.redistribution.wanted(), one.redistribution.holders(), servers);
      const LocalValues::Result got = values.get(published.arrivals, published.persistent, servers);
      const Views views = one.redistribution.views(got.values);
    };
    {
      const testing::FailingAllocation at(inner.rank() == failing ? n : 0);
      failure = servers.attempt(std::cref(work));
      failed = sidestream_test_allocation_failed();
    }
    if (inner.rank() != failing) failed = 0;
    inner.maximum(std::span(&failed, 1));
    // A failure of memory while a server only waits does not matter.
    std::array<std::int64_t, 2> told{failure.empty() ? 0 : 1, failure.empty() ? 0 : -1};
    inner.maximum(told);
    CHECK(told[0] == -told[1]);  // it fails on all or on none
    CHECK((failed == 1 || failure.empty()));
    failures += told[0];
    over = failed == 0;
  }
  CHECK(failures > 10);
}
