// Placement `cores`: clients and servers of one node.
#include "support/ranks.hpp"
#include "transport/conformance/node.hpp"
#include "transport/conformance/run.hpp"
#include "transport/shared_memory/client.hpp"
#include "transport/shared_memory/server.hpp"

using namespace sidestream;
using namespace sidestream::shared_memory;

TEST_CASE("shared memory conforms") {
  MpiCommunicator world(testing::test_ranks());
  for (int servers = 1; servers <= world.size() / 2; ++servers) {
    const test::Ranks ranks = test::ranks_of(world, servers);
    conformance::Harness harness;
    harness.make = [&](const conformance::Needs& needs) {
      const int server = ranks.server_of(world.rank()), client = ranks.client_of(world.rank());
      const NodeRole role{server >= 0, server >= 0 ? server : client, ranks.clients, ranks.servers};
      const auto node =
          std::make_shared<Node>(world, role, test::extents_for(needs), test::buffer_for(needs, ranks.clients));
      conformance::Ends ends;
      if (role.server) {
        ends.server = std::make_shared<Server>(node);
      } else {
        ends.client = std::make_shared<Client>(node, needs.when_full, needs.max_in_flight, std::function<void()>());
      }
      world.barrier();  // all have registered
      return ends;
    };
    test::conforms(world, ranks, harness);
  }
}
