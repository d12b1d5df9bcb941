// Shared memory: no client waits for a server that cannot go on or whose process has gone. Rank 0 is the client, rank 1
// the server.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "base/mpi/communicator.hpp"
#include "support/ranks.hpp"
#include "transport/shared_memory/client.hpp"
#include "transport/shared_memory/server.hpp"

using namespace sidestream;
using namespace sidestream::shared_memory;

namespace {

/// Process id of a process that has ended.
int dead_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

/// Runs a client that waits for the release of an iteration, while `lose` makes the server vanish.
void lose_server(WhenFull when_full, const char* sentence, const std::function<void(Node&, Server&)>& lose) {
  MpiCommunicator comm(testing::test_ranks());
  const NodeRole role{comm.rank() == 1, 0, 1, 1};
  const auto node = std::make_shared<Node>(comm, role, Extents{1 << 16, 1, 0, 0}, 1 << 20);
  if (role.server) {
    Server server(node);
    comm.barrier();
    while (server.state(0).ended < 1) server.receive(std::chrono::milliseconds(10));
    lose(*node, server);
    comm.barrier();
    return;
  }
  Client client(node, when_full, 1, {});
  comm.barrier();  // both have registered
  REQUIRE(client.begin());
  client.end(EndRecord{});
  if (when_full == WhenFull::wait) {
    CHECK_FALSE(client.begin());  // waits for the release of the previous iteration
  } else {
    CHECK(client.drain(std::chrono::hours(1)));  // waits for its outcome
  }
  CHECK_FALSE(client.status().connected);
  CHECK(client.outcome(0).outcome == Outcome::lost);
  const std::string failure = client.news().failure;
  CHECK_MESSAGE(failure.find(sentence) != std::string::npos, failure);
  CHECK(client.news().failure.empty());
  client.end(EndRecord{});
  CHECK(client.outcome(1).outcome == Outcome::refused);
  CHECK(client.drain(std::chrono::hours(1)));
  comm.barrier();
}

}  // namespace

TEST_CASE("clients of a server that leaves go on without") {
  for (const WhenFull when_full : {WhenFull::wait, WhenFull::skip}) {
    lose_server(when_full, "planned", [](Node&, Server& server) { server.finish("planned"); });
  }
}

TEST_CASE("clients of a server that has died go on without") {
  for (const WhenFull when_full : {WhenFull::wait, WhenFull::skip}) {
    lose_server(when_full, "died", [](Node& node, Server&) {
      node.layout().server(node.control(), 0).liveness.pid.store(dead_process());
    });
  }
}
