// The boxes that arrays cover: every server knows those of all clients, as they were published last.
#include <doctest/doctest.h>
#include <mpi.h>

#include <random>

#include "base/mpi/communicator.hpp"
#include "server/engine/guarded_communicator.hpp"
#include "server/redistribution/allocated_boxes.hpp"
#include "support/faults.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

namespace {

/// Four blocks on each server, and two variables; the second one does not vary in time.
struct Clients {
  std::vector<std::vector<Arrival>> varying, still;  ///< by server

  explicit Clients(int servers) : varying(static_cast<std::size_t>(servers)), still(static_cast<std::size_t>(servers)) {
    for (int server = 0; server < servers; ++server) {
      for (int n = 0; n < 4; ++n) {
        Arrival arrival;
        arrival.record.block.client = 2 * server + n / 2;
        arrival.record.block.id = 4 * server + n;
        arrival.record.block.cells = Box{{n, 0, 0}, {n + 1, 2, 2}};
        arrival.record.box = arrival.record.points();
        arrival.record.variable = 0;
        varying[static_cast<std::size_t>(server)].push_back(arrival);
        arrival.record.variable = 1;
        still[static_cast<std::size_t>(server)].push_back(arrival);
      }
    }
  }
  /// Changes boxes, in the same way on every server. True if any box differs now.
  bool change(std::mt19937& random) {
    bool any = false;
    for (auto* all : {&varying, &still}) {
      for (std::vector<Arrival>& some : *all) {
        for (Arrival& arrival : some) {
          if (random() % 8 != 0) continue;
          const Box box = grown(arrival.record.points(), static_cast<Index>(random() % 3));
          any |= !(box == arrival.record.box);
          arrival.record.box = box;
        }
      }
    }
    return any;
  }
  void check(const AllocatedBoxes& boxes, bool second) const {
    for (const auto* all : {&varying, &still}) {
      for (const std::vector<Arrival>& some : *all) {
        for (const Arrival& arrival : some) {
          Variable variable;
          variable.id = arrival.record.variable;
          const bool known = second || variable.id == 0;
          CHECK(boxes.of(variable, arrival.record.block) == (known ? arrival.record.box : arrival.record.points()));
        }
      }
    }
  }
};

}  // namespace

TEST_CASE("every server knows what arrays cover, and all hear of it when it changes") {
  MpiCommunicator servers(testing::test_ranks());
  std::mt19937 random(5);  // the same everywhere
  Clients clients(servers.size());
  AllocatedBoxes boxes;
  const auto mine = static_cast<std::size_t>(servers.rank());
  const auto update = [&](bool second) {
    return boxes.update(clients.varying[mine], clients.still[mine], {true, second}, servers);
  };
  CHECK_FALSE(update(true));  // no array covers more than its block
  for (int iteration = 0; iteration < 30; ++iteration) {
    const bool changed = clients.change(random);
    CHECK(update(true) == changed);
    CHECK_FALSE(update(true));
    clients.check(boxes, true);
  }
  // One block has become larger than the box of its array, and one has gone.
  Variable variable;
  variable.id = 0;
  Block grown_block = clients.varying[0][0].record.block;
  grown_block.cells = Box{{-50, 0, 0}, {50, 2, 2}};
  CHECK(boxes.of(variable, grown_block) == grown_block.cells);
  boxes.keep(BlockTable());
  CHECK(boxes.of(variable, clients.varying[0][1].record.block) == clients.varying[0][1].record.points());
}

TEST_CASE("variables that nobody asks for are not told") {
  MpiCommunicator servers(testing::test_ranks());
  Clients clients(servers.size());
  AllocatedBoxes boxes;
  const auto mine = static_cast<std::size_t>(servers.rank());
  for (auto* all : {&clients.varying, &clients.still}) {
    for (auto& some : *all) {
      for (Arrival& arrival : some) arrival.record.box = grown(arrival.record.points(), 1);
    }
  }
  CHECK(boxes.update(clients.varying[mine], clients.still[mine], {true, false}, servers));
  clients.check(boxes, false);
  CHECK(boxes.update(clients.varying[mine], clients.still[mine], {true, true}, servers));
  clients.check(boxes, true);
}

TEST_CASE("where memory ends on one server nothing has changed on any") {
  MpiCommunicator inner(testing::test_ranks());
  GuardedCommunicator servers(inner);
  Clients clients(inner.size());
  std::mt19937 random(9);
  while (!clients.change(random)) {
  }
  const Clients before(inner.size());
  const auto mine = static_cast<std::size_t>(inner.rank());
  std::int64_t failures = 0;
  bool over = false;
  for (long n = 1; !over; ++n) {
    AllocatedBoxes boxes;
    const auto work = [&] {
      static_cast<void>(boxes.update(clients.varying[mine], clients.still[mine], {true, true}, servers));
    };
    std::string failure;
    std::int64_t failed = 0;
    {
      const testing::FailingAllocation at(inner.rank() == 0 ? n : 0);
      failure = servers.attempt(std::cref(work));
      failed = sidestream_test_allocation_failed();
    }
    if (inner.rank() != 0) failed = 0;
    inner.maximum(std::span(&failed, 1));
    (failure.empty() ? clients : before).check(boxes, true);
    failures += !failure.empty();
    over = failed == 0;
  }
  CHECK(failures > 0);
}
