#include "session/wiring_nodes.hpp"

#include <algorithm>

#include "base/agree.hpp"
#include "base/fail.hpp"
#include "transport/mpi/client.hpp"
#include "transport/mpi/partials.hpp"
#include "transport/mpi/server.hpp"
#include "transport/shared_memory/client.hpp"
#include "transport/shared_memory/server.hpp"

namespace sidestream {

namespace {

/// The server that number `n` of `many` clients or forwarders reports to: contiguous shares.
int contact_of(std::size_t n, std::size_t many, const std::vector<int>& servers) {
  return servers[n * servers.size() / many];
}

std::vector<mpi::ValueShape> shapes_of(const Metadata& metadata) {
  std::vector<mpi::ValueShape> shapes;
  for (const Variable& variable : metadata.variables) shapes.push_back({variable.type, variable.components});
  return shapes;
}

/// Servers that no forwarder reports to hear of rounds from this one.
std::vector<int> left_over(std::size_t forwarder, const Roles& roles) {
  const std::size_t many = roles.forwarder_ranks.size();
  std::vector<bool> has_one(roles.server_ranks.size(), false);
  for (std::size_t f = 0; f < many; ++f) has_one[f * has_one.size() / many] = true;
  std::vector<int> servers;
  for (std::size_t s = 0; s < has_one.size(); ++s) {
    if (!has_one[s] && s % many == forwarder) servers.push_back(roles.server_ranks[s]);
  }
  return servers;
}

/// Those whose packets a combining server waits for.
std::vector<int> reporters_to(int server, const Roles& roles) {
  std::vector<int> reporters;
  for (std::size_t f = 0; f < roles.forwarder_ranks.size(); ++f) {
    const std::vector<int> others = left_over(f, roles);
    const bool told = std::find(others.begin(), others.end(), server) != others.end();
    if (told || contact_of(f, roles.forwarder_ranks.size(), roles.server_ranks) == server) {
      reporters.push_back(roles.forwarder_ranks[f]);
    }
  }
  return reporters;
}

}  // namespace

mpi::Moving agree_on_moving(MpiCommunicator& world, const Roles& roles, const PlacementConfig& placement) {
  std::int64_t multiple = mpi_allows_threads() || !roles.client;
  world.minimum(std::span(&multiple, 1));
  together(world, [&] {
    if (placement.progress != Progress::thread || multiple) return;
    const std::string at = placement.where.text();
    fail(Code::usage,
         "{}{}placement.progress is thread, but MPI was not initialised with MPI_THREAD_MULTIPLE on all clients; call "
         "MPI_Init_thread with it, or use forwarders (placement.forward)",
         at, at.empty() ? "" : ": ");
  });
  return multiple && placement.progress != Progress::calls ? mpi::Moving::fetched : mpi::Moving::pushed;
}

Wires make_nodes(MpiCommunicator& world, const Roles& roles, const PlacementConfig& placement, const Metadata& metadata,
                 const NodesBuffer& buffer) {
  const bool forwards = placement.forward != Forward::none;
  const mpi::Moving moving = forwards ? mpi::Moving::fetched : agree_on_moving(world, roles, placement);
  std::shared_ptr<MpiCommunicator> comm = world.duplicate();
  const std::vector<int>& reporters = forwards ? roles.forwarder_ranks : roles.client_ranks;
  const auto number = static_cast<std::size_t>(roles.members->rank());
  Wires wires;
  const bool partials = placement.forward == Forward::partials;
  const auto make = [&] {
    if (roles.server && partials) {
      wires.receiver = std::make_shared<mpi::Receiver>(comm, reporters_to(world.rank(), roles));
    } else if (roles.server) {
      mpi::Server::Options options{{}, roles.holders, shapes_of(metadata), moving};
      for (std::size_t n = 0; n < reporters.size(); ++n) {
        if (contact_of(n, reporters.size(), roles.server_ranks) == world.rank())
          options.contacts.push_back(reporters[n]);
      }
      // The contact of who pushes holds what was pushed.
      for (std::size_t c = 0; c < options.holders.size() && moving == mpi::Moving::pushed; ++c) {
        options.holders[c] = contact_of(c, reporters.size(), roles.server_ranks);
      }
      wires.server = std::make_shared<mpi::Server>(comm, std::move(options));
    } else if (roles.forwarder) {
      const int contact = contact_of(number, reporters.size(), roles.server_ranks);
      wires.server = std::make_shared<shared_memory::Server>(buffer.node);
      if (partials) {
        wires.sender = std::make_shared<mpi::Sender>(comm, contact, left_over(number, roles));
      } else {
        wires.forwarder = std::make_shared<mpi::Forwarder>(*wires.server, comm, contact);
      }
    } else if (forwards) {
      const auto progress = [clients = roles.members->comm()] { mpi::progress(clients); };
      wires.client =
          std::make_shared<shared_memory::Client>(buffer.node, placement.when_full, placement.max_in_flight, progress);
    } else {
      const mpi::Client::Options options{contact_of(number, reporters.size(), roles.server_ranks),
                                         buffer.own,
                                         placement.when_full,
                                         placement.max_in_flight,
                                         moving,
                                         buffer.rest};
      wires.client = std::make_shared<mpi::Client>(comm, options);
    }
  };
  together(world, make);  // a thread may be refused, memory may be short
  return wires;
}

}  // namespace sidestream
