// Placement `nodes`: values are fetched, pushed, or sent through forwarders.
#include "support/ranks.hpp"
#include "transport/conformance/node.hpp"
#include "transport/conformance/run.hpp"
#include "transport/mpi/client.hpp"
#include "transport/mpi/forwarder.hpp"
#include "transport/mpi/server.hpp"
#include "transport/shared_memory/client.hpp"
#include "transport/shared_memory/server.hpp"

using namespace sidestream;

namespace {

std::vector<mpi::ValueShape> shapes() {
  std::vector<mpi::ValueShape> all;
  for (const Variable& variable : conformance::variables()) all.push_back({variable.type, variable.components});
  return all;
}

/// Also checks more servers than clients, so that some servers have no client.
void check_direct(mpi::Moving moving) {
  MpiCommunicator world(testing::test_ranks());
  for (int servers = 1; servers < world.size(); ++servers) {
    const test::Ranks ranks = test::ranks_of(world, servers);
    conformance::Harness harness;
    harness.make = [&](const conformance::Needs& needs) {
      const std::shared_ptr<MpiCommunicator> comm = world.duplicate();
      conformance::Ends ends;
      if (const int client = ranks.client_of(world.rank()); client >= 0) {
        const mpi::Client::Options options{ranks.contact(client, ranks.clients),
                                           2 * needs.bytes,
                                           needs.when_full,
                                           needs.max_in_flight,
                                           moving,
                                           nullptr};
        ends.client = std::make_shared<mpi::Client>(comm, options);
        return ends;
      }
      mpi::Server::Options options{{}, {}, shapes(), moving};
      for (int client = 0; client < ranks.clients; ++client) {
        const int contact = ranks.contact(client, ranks.clients), rank = ranks.rank_of_client(client);
        options.holders.push_back(moving == mpi::Moving::pushed ? contact : rank);
        if (contact == world.rank()) options.contacts.push_back(rank);
      }
      ends.server = std::make_shared<mpi::Server>(comm, std::move(options));
      return ends;
    };
    test::conforms(world, ranks, harness);
  }
}

}  // namespace

TEST_CASE("values that are fetched") { check_direct(mpi::Moving::fetched); }

TEST_CASE("values that are pushed") { check_direct(mpi::Moving::pushed); }

TEST_CASE("forwarders") {
  MpiCommunicator world(testing::test_ranks());
  if (world.size() < 3) return;
  for (int servers = 1; servers + 2 <= world.size(); ++servers) {
    const test::Ranks ranks = test::ranks_of(world, servers, 1);
    const int client = ranks.client_of(world.rank()), server = ranks.server_of(world.rank());
    const auto node_members = world.group(server >= 0 ? 1 : 0);  // the forwarder and its clients
    conformance::Harness harness;
    harness.make = [&](const conformance::Needs& needs) {
      const std::shared_ptr<MpiCommunicator> comm = world.duplicate();
      conformance::Ends ends;
      if (server >= 0) {
        mpi::Server::Options options{{}, {}, shapes(), mpi::Moving::fetched};
        options.holders.assign(static_cast<std::size_t>(ranks.clients), ranks.servers);
        if (server == 0) options.contacts.push_back(ranks.servers);
        ends.server = std::make_shared<mpi::Server>(comm, std::move(options));
        return ends;
      }
      const shared_memory::NodeRole role{client < 0, std::max(client, 0), ranks.clients, 1};
      const auto node = std::make_shared<shared_memory::Node>(*node_members, role, test::extents_for(needs),
                                                              test::buffer_for(needs, ranks.clients));
      if (client >= 0) {
        const auto progress = [comm] { mpi::progress(comm->comm()); };
        ends.client = std::make_shared<shared_memory::Client>(node, needs.when_full, needs.max_in_flight, progress);
      } else {
        ends.relay = [node, comm] {
          shared_memory::Server clients(node);
          mpi::Forwarder(clients, {{comm, 0}}).run();
        };
      }
      return ends;
    };
    test::conforms(world, ranks, harness);
  }
}
