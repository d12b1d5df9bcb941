// Creates the transports of each placement. Collective; an error of one rank is thrown on all.
//
// 1. share_of_buffer: clients of a node add up their needs, which must fit into the buffer; the rest is shared.
// 2. `inline`, `off`: one object is client and server. `cores`, `job`: shared memory of the node.
// 3. `nodes`: clients move values by a thread, or push them, as MPI allows; or a forwarder reads them from shared
//    memory. Each group of servers has its own communicator and its own assignment of reporters.
// 4. Spilling: each client gets a file whose share of the limit follows from its needs.
#include "session/opening/wiring.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>

#include "base/mpi/agree.hpp"
#include "base/paths.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"
#include "transport/in_process/transport.hpp"
#include "transport/mpi/packet.hpp"
#include "transport/mpi/partials.hpp"
#include "transport/mpi/server.hpp"
#include "transport/shared_memory/client.hpp"
#include "transport/shared_memory/memory_limit.hpp"
#include "transport/shared_memory/server.hpp"

namespace sidestream {

shared_memory::Extents extents_of(const std::vector<BlockBytes>& sizes) {
  std::vector<std::uint64_t> varying;
  shared_memory::Extents extents;
  for (const BlockBytes& one : sizes) {
    if (one.persistent) {
      extents.keep += shared_memory::block_footprint(one.bytes);
    } else {
      varying.push_back(one.bytes);
    }
  }
  extents.home = shared_memory::home_footprint(varying);
  return extents;
}

namespace {

/// Shares of the node's buffer: the needs of this client for one iteration, and the rest beyond the needs of all
/// clients of the node.
struct Share {
  std::uint64_t mine = 0, rest = 0;
};

/// Collective.
Share share_of_buffer(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                      const std::vector<BlockBytes>& sizes) {
  const shared_memory::Extents extents = extents_of(sizes);
  const std::uint64_t mine = extents.home + extents.keep;
  std::int64_t needed = static_cast<std::int64_t>(mine);
  roles.node_members->sum(std::span(&needed, 1));
  run_collectively(world, [&] {
    if (static_cast<std::uint64_t>(needed) <= placement.buffer) return;
    const std::string at = placement.where.text();
    fail(Code::full,
         "{}{}placement.buffer is {} bytes, but one iteration of the {} clients of a node takes {} bytes; raise "
         "placement.buffer to at least that",
         at, at.empty() ? "" : ": ", placement.buffer, roles.on_node.clients, needed);
  });
  return {mine, placement.buffer - static_cast<std::uint64_t>(needed)};
}

Transports make_inline(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                       const std::vector<BlockBytes>& sizes) {
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  if (placement.mode != PlacementMode::off) {
    const Share share = share_of_buffer(world, roles, placement, sizes);
    limit = share.mine + share.rest / static_cast<std::uint64_t>(std::max(1, roles.on_node.clients));
  }
  auto both = std::make_shared<InProcessTransport>(limit, placement.when_full);
  return {both, both, nullptr, nullptr, nullptr, {}};
}

Transports make_cores(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                      const std::vector<BlockBytes>& sizes) {
  static_cast<void>(share_of_buffer(world, roles, placement, sizes));  // called for its error, which names the place
  std::shared_ptr<shared_memory::Node> node;
  // Each node fails by itself; `run_collectively` makes all fail.
  run_collectively(world, [&] {
    node =
        std::make_shared<shared_memory::Node>(*roles.node_members, roles.on_node, extents_of(sizes), placement.buffer);
  });
  std::unique_ptr<shared_memory::SpillFile> spill = make_spill_file(world, roles, placement, sizes);
  if (roles.server) {
    return {nullptr, std::make_shared<shared_memory::Server>(node, placement.poll), nullptr, nullptr, nullptr, {}};
  }
  const auto progress = [comm = roles.members->comm()] { mpi::progress(comm); };
  auto client = std::make_shared<shared_memory::Client>(node, placement.when_full, placement.max_in_flight, progress);
  if (spill) client->spill_to(std::move(spill));
  return {client, nullptr, nullptr, nullptr, nullptr, {}};
}

std::vector<mpi::ValueShape> shapes_of(const Metadata& metadata) {
  std::vector<mpi::ValueShape> shapes;
  for (const Variable& variable : metadata.variables) shapes.push_back({variable.type, variable.components});
  return shapes;
}

/// The numbers of the clients whose values this forwarder holds. Collective over a node.
std::vector<int> clients_held(Roles& roles) {
  const std::int32_t number = roles.client ? roles.members->rank() : -1;
  std::vector<int> held;
  int place = 0;
  for (const Bytes& bytes : roles.node_members->all_gather(bytes_of(number))) {
    const auto client = record_of<std::int32_t>(bytes);
    if (client < 0) continue;
    if (roles.forwarder && shared_memory::server_of(place, roles.on_node, roles.group) == roles.on_node.number)
      held.push_back(client);
    ++place;
  }
  return held;
}

/// The server assignment within a group, or among all. Collective. `mine`: true if this server, or this forwarder that
/// reduces, is part of it.
ServerAssignment server_assignment_of(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                                      bool pushed, const Reporting& reporting, bool mine) {
  const bool forwards = placement.forward != Forward::none, partials = placement.forward == Forward::partials;
  const bool serves = roles.server && mine;
  const bool reports = forwards ? roles.forwarder && (!partials || mine) : roles.client;
  ContactRole role{serves, reports, own_members(roles).rank(), partials, {}};
  if (forwards) {
    role.clients = clients_held(roles);
  } else if (roles.client) {
    role.clients = {roles.members->rank()};
  }
  return find_server_assignment(world, serves && !partials ? &own_members(roles) : nullptr, reporting, role, pushed);
}

/// The assignment of each group, with a separate communicator.
struct GroupContacts {
  ServerAssignment assignment;
  std::shared_ptr<MpiCommunicator> comm;
};

std::vector<GroupContacts> contacts_of_groups(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                                              bool pushed) {
  std::vector<GroupContacts> all;
  const bool partials = placement.forward == Forward::partials;
  const int reporters = placement.forward != Forward::none ? roles.forwarders.count : roles.clients.count;
  if (placement.groups.empty()) {
    ServerAssignment assignment =
        server_assignment_of(world, roles, placement, pushed, {reporters, roles.servers.count}, true);
    all.push_back({std::move(assignment), world.duplicate()});
    return all;
  }
  // All reporters report to each group, except forwarders that reduce for one group.
  std::vector<std::int64_t> counts(placement.groups.size(), partials ? 0 : reporters);
  if (partials) {
    if (roles.forwarder) ++counts[roles.group];
    world.sum(counts);
  }
  for (std::size_t g = 0; g < placement.groups.size(); ++g) {
    const Reporting reporting{static_cast<int>(counts[g]), placement.groups[g].size};
    ServerAssignment assignment = server_assignment_of(world, roles, placement, pushed, reporting, roles.group == g);
    all.push_back({std::move(assignment), world.duplicate()});
  }
  return all;
}

/// Agrees on how values leave the clients of this job. A thread of each client moves them if MPI allows that on all
/// clients. Collective. Throws Error(usage) everywhere if the placement asks for a thread that MPI does not allow.
mpi::Moving agree_on_moving(MpiCommunicator& world, const Roles& roles, const PlacementConfig& placement) {
  std::int64_t multiple = mpi_allows_threads() || !roles.client;
  world.minimum(std::span(&multiple, 1));
  run_collectively(world, [&] {
    if (placement.progress != Progress::thread || multiple) return;
    const std::string at = placement.where.text();
    fail(Code::usage,
         "{}{}placement.progress is thread, but MPI was not initialised with MPI_THREAD_MULTIPLE on all clients; call "
         "MPI_Init_thread with it, or use forwarders (placement.forward)",
         at, at.empty() ? "" : ": ");
  });
  return multiple && placement.progress != Progress::calls ? mpi::Moving::fetched : mpi::Moving::pushed;
}

/// Makes the transports of placement `nodes`. Clients and forwarders of each node share memory; servers elsewhere do
/// not.
Transports make_nodes(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement, const Metadata& metadata,
                      const std::vector<BlockBytes>& sizes) {
  const bool forwards = placement.forward != Forward::none;
  const Share share = share_of_buffer(world, roles, placement, sizes);
  std::shared_ptr<shared_memory::Node> node;
  std::shared_ptr<shared_memory::SharedLimit> rest;  // lends memory beyond a client's share
  run_collectively(world, [&] {
    if (!forwards) {
      rest = std::make_shared<shared_memory::SharedLimit>(*roles.node_members, share.rest);
    } else if (!roles.server) {
      node = std::make_shared<shared_memory::Node>(*roles.node_members, roles.on_node, extents_of(sizes),
                                                   placement.buffer);
    }
  });
  const mpi::Moving moving = forwards ? mpi::Moving::fetched : agree_on_moving(world, roles, placement);
  std::vector<GroupContacts> groups = contacts_of_groups(world, roles, placement, moving == mpi::Moving::pushed);
  Transports transports;
  for (const GroupContacts& group : groups) transports.comms.push_back(group.comm);
  const std::vector<mpi::Contact> reports_to = [&] {
    std::vector<mpi::Contact> all;
    for (const GroupContacts& group : groups) all.push_back({group.comm, group.assignment.server});
    return all;
  }();
  auto& [assignment, comm] = groups.at(roles.group);
  const bool partials = placement.forward == Forward::partials;
  const auto make = [&] {
    if (roles.server && partials) {
      transports.receiver = std::make_shared<mpi::Receiver>(comm, assignment.reporters);
    } else if (roles.server) {
      transports.server = std::make_shared<mpi::Server>(
          comm, mpi::Server::Options{assignment.reporters, assignment.holders, shapes_of(metadata), moving});
    } else if (roles.forwarder) {
      transports.server = std::make_shared<shared_memory::Server>(node);
      if (partials) {
        transports.sender = std::make_shared<mpi::Sender>(comm, assignment.server, assignment.unreported);
      } else {
        transports.forwarder = std::make_shared<mpi::Forwarder>(*transports.server, reports_to);
      }
    } else if (forwards) {
      const auto progress = [clients = roles.members->comm()] { mpi::progress(clients); };
      transports.client =
          std::make_shared<shared_memory::Client>(node, placement.when_full, placement.max_in_flight, progress);
    } else {
      const std::vector<mpi::Contact> others(reports_to.begin() + 1, reports_to.end());
      const mpi::Client::Options options{
          assignment.server, share.mine, placement.when_full, placement.max_in_flight, moving, rest, others};
      transports.client = std::make_shared<mpi::Client>(comm, options);
    }
  };
  run_collectively(world, make);  // a thread may be refused, memory may be short
  return transports;
}

}  // namespace

Transports make_transports(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                           const Metadata& metadata, const std::vector<BlockBytes>& sizes) {
  switch (placement.mode) {
    case PlacementMode::cores:
    case PlacementMode::job:
      return make_cores(world, roles, placement, sizes);
    case PlacementMode::nodes:
      return make_nodes(world, roles, placement, metadata, sizes);
    default:
      return make_inline(world, roles, placement, sizes);
  }
}

namespace {

/// The share of `size` bytes for a client with `mine` of `all` bytes.
std::uint64_t share_of(std::uint64_t size, std::int64_t mine, std::int64_t all) {
  return static_cast<std::uint64_t>(static_cast<long double>(size) * static_cast<long double>(mine) /
                                    static_cast<long double>(all));
}

}  // namespace

void settle_spilling(PlacementConfig& placement, const std::string& folder) {
  std::string& directory = placement.spill.directory;
  const char* const temporary = std::getenv("TMPDIR");
  if (directory.empty()) directory = temporary != nullptr && *temporary != 0 ? temporary : "/tmp";
  directory = path_from(folder, directory);
}

std::unique_ptr<shared_memory::SpillFile> make_spill_file(MpiCommunicator& world, const Roles& roles,
                                                          const PlacementConfig& placement,
                                                          const std::vector<BlockBytes>& sizes) {
  if (placement.when_full != WhenFull::spill) return nullptr;
  constexpr std::int64_t least = 4096;
  std::int64_t mine = 0;
  if (roles.client) mine = least + static_cast<std::int64_t>(extents_of(sizes).home);
  std::int64_t all = mine;
  roles.node_members->sum(std::span(&all, 1));
  std::unique_ptr<shared_memory::SpillFile> file;
  run_collectively(world, [&] {
    if (!roles.client) return;
    const std::string& folder = placement.spill.directory;
    if (roles.on_node.number == 0) shared_memory::prepare_spill_folder(folder);
    std::filesystem::create_directories(folder);
    file = std::make_unique<shared_memory::SpillFile>(folder, share_of(placement.spill.size, mine, all));
  });
  return file;
}

}  // namespace sidestream
