// Placement `sidecar`, with both ends in one MPI job. Servers find the clients' memory by the name of its listener.
#include <fmt/format.h>

#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "support/ranks.hpp"
#include "transport/conformance/node.hpp"
#include "transport/conformance/run.hpp"
#include "transport/shared_memory/sidecar/sidecar_client.hpp"
#include "transport/shared_memory/sidecar/sidecar_server.hpp"

using namespace sidestream;
using namespace sidestream::shared_memory;

namespace {

std::shared_ptr<Attachment> attach(const std::string& name, const Id& group, int place) {
  AttachRequest request;
  request.build = shared_memory_build();
  request.group = group;
  request.place = static_cast<std::uint32_t>(place);
  for (Backoff backoff(std::chrono::milliseconds(1), std::chrono::milliseconds(20));; backoff.pause()) {
    Attachment::Attempt attempt = Attachment::attempt(name, request);
    REQUIRE(attempt.result != Attachment::Attempt::Result::refused);
    if (attempt.attachment) return std::move(attempt.attachment);
  }
}

void start(ServerTransport& transport, Communicator& group) {
  auto& server = static_cast<SidecarServer&>(transport);
  while (!server.joined()) server.receive(std::chrono::milliseconds(1));
  std::int64_t first = server.first();
  group.maximum(std::span(&first, 1));
  server.start_at(first);
}

}  // namespace

TEST_CASE("sidecars conform") {
  MpiCommunicator world(testing::test_ranks());
  for (int servers = 1; servers <= world.size() / 2; ++servers) {
    const test::Ranks ranks = test::ranks_of(world, servers);
    const int server = ranks.server_of(world.rank()), client = ranks.client_of(world.rank());
    const auto members = world.group(server >= 0 ? 0 : 1);
    conformance::Harness harness;
    harness.make = [&](const conformance::Needs& needs) {
      Id id = random_id();
      Bytes bytes(bytes_of(id).begin(), bytes_of(id).end());
      world.broadcast(bytes, 0);
      id = record_of<Id>(bytes);
      const std::string name = listener_name(fmt::format("test-{:016x}{:016x}", id[0], id[1]), -1);
      conformance::Ends ends;
      if (server >= 0) {
        std::shared_ptr<Attachment> attachment = attach(name, id, server);
        attachment->signal(AttachSignal::go);
        ends.server = std::make_shared<SidecarServer>(std::move(attachment));
        return ends;
      }
      const auto node = Node::without_servers(*members, {false, client, ranks.clients, ranks.servers},
                                              test::extents_for(needs), test::buffer_for(needs, ranks.clients));
      std::shared_ptr<Listener> listener;
      if (client == 0) listener = std::make_shared<Listener>(name, node, ListenerOffer{});
      ends.client = std::make_shared<SidecarClient>(node, listener, needs.when_full, needs.max_in_flight,
                                                    std::function<void()>(), false);
      // Waits, so that the first iteration has servers.
      const ServiceState& service = node->layout().service(node->control());
      while (ServiceState::phase_of(service.load()) != ServiceState::Phase::attached) {
        pause_for(std::chrono::milliseconds(1));
      }
      return ends;
    };
    harness.start = [&](ServerTransport& transport) { start(transport, *members); };
    test::conforms(world, ranks, harness);
  }
}
