#include "session/opening/wiring.hpp"

#include "base/mpi/agree.hpp"
#include "session/opening/server_assignment.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"
#include "transport/mpi/client.hpp"
#include "transport/mpi/partials.hpp"
#include "transport/mpi/server.hpp"
#include "transport/shared_memory/client.hpp"
#include "transport/shared_memory/server.hpp"

namespace sidestream {

namespace {

std::vector<mpi::ValueShape> shapes_of(const Metadata& metadata) {
  std::vector<mpi::ValueShape> shapes;
  for (const Variable& variable : metadata.variables) shapes.push_back({variable.type, variable.components});
  return shapes;
}

/// Collective over a node: the numbers of the clients whose values this forwarder holds.
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

/// One group of servers, or all of them.
struct GroupShape {
  int servers = 0;
  int reporters = 0;
  bool mine = true;  ///< true if this server, or this forwarder that reduces, is in it
};

/// Collective: the server assignment within a group.
ServerAssignment server_assignment_of(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                                      bool pushed, const GroupShape& group) {
  const bool forwards = placement.forward != Forward::none, partials = placement.forward == Forward::partials;
  const bool serves = roles.server && group.mine;
  const bool reports = forwards ? roles.forwarder && (!partials || group.mine) : roles.client;
  ContactRole role{serves, reports, colleagues(roles).rank(), partials, {}};
  if (forwards) {
    role.clients = clients_held(roles);
  } else if (roles.client) {
    role.clients = {roles.members->rank()};
  }
  const Reporting reporting{group.reporters, group.servers};
  return find_server_assignment(world, serves && !partials ? &colleagues(roles) : nullptr, reporting, role, pushed);
}

/// The assignment of each group, with a communicator of its own.
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
        server_assignment_of(world, roles, placement, pushed, {roles.servers.count, reporters, true});
    all.push_back({std::move(assignment), world.duplicate()});
    return all;
  }
  // All report to each group, except forwarders that reduce for one group.
  std::vector<std::int64_t> counts(placement.groups.size(), partials ? 0 : reporters);
  if (partials) {
    if (roles.forwarder) ++counts[roles.group];
    world.sum(counts);
  }
  for (std::size_t g = 0; g < placement.groups.size(); ++g) {
    const GroupShape shape{placement.groups[g].size, static_cast<int>(counts[g]), roles.group == g};
    ServerAssignment assignment = server_assignment_of(world, roles, placement, pushed, shape);
    all.push_back({std::move(assignment), world.duplicate()});
  }
  return all;
}

}  // namespace

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

Transports make_nodes(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement, const Metadata& metadata,
                      const NodesBuffer& buffer) {
  const bool forwards = placement.forward != Forward::none;
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
      transports.server = std::make_shared<shared_memory::Server>(buffer.node);
      if (partials) {
        transports.sender = std::make_shared<mpi::Sender>(comm, assignment.server, assignment.left_over);
      } else {
        transports.forwarder = std::make_shared<mpi::Forwarder>(*transports.server, reports_to);
      }
    } else if (forwards) {
      const auto progress = [clients = roles.members->comm()] { mpi::progress(clients); };
      transports.client =
          std::make_shared<shared_memory::Client>(buffer.node, placement.when_full, placement.max_in_flight, progress);
    } else {
      const std::vector<mpi::Contact> others(reports_to.begin() + 1, reports_to.end());
      const mpi::Client::Options options{
          assignment.server, buffer.own, placement.when_full, placement.max_in_flight, moving, buffer.rest, others};
      transports.client = std::make_shared<mpi::Client>(comm, options);
    }
  };
  run_collectively(world, make);  // a thread may be refused, memory may be short
  return transports;
}

}  // namespace sidestream
