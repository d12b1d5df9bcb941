// Shared memory with two groups of servers. If one group cannot go on, the client ends the session, and the other group
// does not wait. Rank 0 is the client, rank 1 the server of the first group, rank 2 that of the second.
#include <doctest/doctest.h>

#include "base/mpi/communicator.hpp"
#include "support/ranks.hpp"
#include "transport/shared_memory/client.hpp"
#include "transport/shared_memory/server.hpp"

using namespace sidestream;
using namespace sidestream::shared_memory;

namespace {

std::shared_ptr<Node> open_node(MpiCommunicator& comm) {
  const bool serves = comm.rank() > 0;
  const NodeRole role{serves, serves ? comm.rank() - 1 : 0, 1, 2, {1, 1}};
  return std::make_shared<Node>(comm, role, Extents{1 << 16, 1, 0, 0}, 1 << 20);
}

void until_ended(Server& server, std::int64_t index) {
  while (server.state(index).ended < 1) server.receive(std::chrono::milliseconds(10));
}

}  // namespace

TEST_CASE("memory is free, and the outcome known, when both groups have said so") {
  MpiCommunicator comm(testing::test_ranks());
  const auto node = open_node(comm);
  if (comm.rank() > 0) {
    Server server(node);
    comm.barrier();
    until_ended(server, 0);
    CHECK(server.state(0).inbox.blocks.size() == 1);
    CHECK(*reinterpret_cast<const double*>(server.state(0).inbox.blocks[0].data) == 42);
    if (comm.rank() == 1) server.release(0, Outcome::delivered);
    comm.barrier();
    comm.barrier();  // the client has looked
    if (comm.rank() == 2) server.release(0, Outcome::failed);
    comm.barrier();
    comm.barrier();
    return;
  }
  Client client(node, WhenFull::skip, 1, {});
  comm.barrier();
  REQUIRE(client.begin());
  const std::optional<Region> region = client.reserve(sizeof(double), false);
  REQUIRE(region);
  const double value = 42;
  client.fill(*region, &value, sizeof value);
  BlockRecord record;
  record.variable = 0;
  record.block.cells = record.box = {{0, 0, 0}, {1, 1, 1}};
  record.bytes = sizeof value;
  client.commit(record, *region, false);
  client.end(EndRecord{});
  comm.barrier();
  CHECK(client.outcome(0).outcome == Outcome::pending);
  CHECK_FALSE(client.begin());  // one group has it in flight
  comm.barrier();
  comm.barrier();
  CHECK(client.begin());
  CHECK(client.outcome(0).outcome == Outcome::failed);
  comm.barrier();
}

TEST_CASE("a group that leaves is the end for the client, and the other finishes") {
  MpiCommunicator comm(testing::test_ranks());
  for (const int lost : {1, 2}) {
    const auto node = open_node(comm);
    if (comm.rank() > 0) {
      Server server(node);
      comm.barrier();
      until_ended(server, 0);
      if (comm.rank() == lost) {
        server.finish("planned");
      } else {
        // It hears that the client closes, and may finish what it was given whole.
        while (server.state(1).pending > 0) server.receive(std::chrono::milliseconds(10));
        CHECK(server.state(0).ended == 1);
        CHECK(server.state(1).ended == 0);
        server.release(0, Outcome::delivered);
      }
      comm.barrier();
      continue;
    }
    Client client(node, WhenFull::wait, 1, {});
    comm.barrier();
    REQUIRE(client.begin());
    client.end(EndRecord{});
    CHECK_FALSE(client.begin());
    CHECK_FALSE(client.status().connected);
    CHECK(client.outcome(0).outcome == Outcome::lost);
    CHECK(client.news().failure.find("planned") != std::string::npos);
    client.end(EndRecord{});
    CHECK(client.outcome(1).outcome == Outcome::refused);
    CHECK(client.drain(std::chrono::hours(1)));
    comm.barrier();
  }
}
