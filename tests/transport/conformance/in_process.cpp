// Placement `inline`: each rank is a client and a server.
#include "support/ranks.hpp"
#include "transport/in_process/transport.hpp"

#include "transport/conformance/run.hpp"

using namespace sidestream;

TEST_CASE("the transport within a process conforms") {
  MpiCommunicator world(testing::test_ranks());
  const auto group = world.duplicate();
  conformance::Harness harness;
  harness.clients = harness.servers = world.size();
  harness.client = harness.server = world.rank();
  harness.all = &world;
  harness.group = group.get();
  harness.make = [](const conformance::Needs& needs) {
    auto both = std::make_shared<InProcessTransport>(2 * needs.bytes, needs.when_full);
    return conformance::Ends{both, both, {}};
  };
  for (const std::string& wrong : conformance::check_transport(harness)) FAIL_CHECK(wrong);
}
