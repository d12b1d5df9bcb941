// Runs the conformance checks over a transport as one doctest case.
#pragma once

#include <doctest/doctest.h>
#include <mpi.h>

#include <memory>
#include <string>

#include "base/mpi/communicator.hpp"
#include "sidestream/conformance/transport.hpp"

namespace sidestream::test {

/// The ranks of a test: first the servers, then others, such as forwarders, then the clients.
struct Ranks {
  int servers = 1, others = 0, clients = 1;
  [[nodiscard]] int server_of(int rank) const { return rank < servers ? rank : -1; }
  [[nodiscard]] int other_of(int rank) const {
    return rank >= servers && rank < servers + others ? rank - servers : -1;
  }
  [[nodiscard]] int client_of(int rank) const { return rank < servers + others ? -1 : rank - servers - others; }
  [[nodiscard]] int rank_of_client(int client) const { return servers + others + client; }
  /// The server that client number `n` of `many` reports to.
  [[nodiscard]] int contact(int n, int many) const { return n * servers / many; }
};

/// Divides all ranks, with these numbers of servers and others.
inline Ranks ranks_of(const MpiCommunicator& world, int servers, int others = 0) {
  return {servers, others, world.size() - servers - others};
}

inline void conforms(MpiCommunicator& world, const Ranks& ranks, conformance::Harness harness) {
  CAPTURE(ranks.servers);
  CAPTURE(ranks.clients);
  const int server = ranks.server_of(world.rank());
  const auto group = world.group(server >= 0 ? 0 : 1);
  harness.clients = ranks.clients;
  harness.servers = ranks.servers;
  harness.client = ranks.client_of(world.rank());
  harness.server = server;
  harness.all = &world;
  harness.group = server >= 0 ? group.get() : nullptr;
  if (server >= 0) {
    harness.set_meanwhile = [&group](std::function<void()> what) { group->set_meanwhile(std::move(what)); };
  }
  for (const std::string& wrong : conformance::check_transport(harness)) FAIL_CHECK(wrong);
}

}  // namespace sidestream::test
