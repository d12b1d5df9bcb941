#include "client/wiring.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/agree.hpp"
#include "base/fail.hpp"
#include "transport/in_process/transport.hpp"
#include "transport/mpi/client.hpp"
#include "transport/mpi/server.hpp"
#include "transport/shared_memory/client.hpp"
#include "transport/shared_memory/server.hpp"

namespace sidestream {

namespace {

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

/// This client's share of the node's buffer: what it needs for one iteration, and an equal part of the rest.
/// Collective.
std::uint64_t share_of_buffer(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                              const std::vector<BlockBytes>& sizes) {
  const shared_memory::Extents extents = extents_of(sizes);
  const std::uint64_t mine = extents.home + extents.keep;
  std::int64_t needed = static_cast<std::int64_t>(mine);
  roles.node_members->sum(std::span(&needed, 1));
  together(world, [&] {
    if (static_cast<std::uint64_t>(needed) <= placement.buffer) return;
    const std::string at = placement.where.text();
    fail(Code::full,
         "{}{}placement.buffer is {} bytes, but one iteration of the {} clients of a node takes {} bytes; raise "
         "placement.buffer to at least that",
         at, at.empty() ? "" : ": ", placement.buffer, roles.on_node.clients, needed);
  });
  const std::uint64_t rest = placement.buffer - static_cast<std::uint64_t>(needed);
  return mine + rest / static_cast<std::uint64_t>(std::max(1, roles.on_node.clients));
}

Wires make_inline(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                  const std::vector<BlockBytes>& sizes) {
  const std::uint64_t limit = placement.mode == PlacementMode::off ? std::numeric_limits<std::uint64_t>::max()
                                                                   : share_of_buffer(world, roles, placement, sizes);
  auto both = std::make_shared<InProcessTransport>(limit, placement.when_full);
  return {both, both};
}

Wires make_cores(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                 const std::vector<BlockBytes>& sizes) {
  static_cast<void>(share_of_buffer(world, roles, placement, sizes));  // for its error, which names the place
  std::shared_ptr<shared_memory::Node> node;
  // Each node fails by itself; `together` makes it a failure of all.
  together(world, [&] {
    node =
        std::make_shared<shared_memory::Node>(*roles.node_members, roles.on_node, extents_of(sizes), placement.buffer);
  });
  if (roles.server) return {nullptr, std::make_shared<shared_memory::Server>(node)};
  const auto progress = [comm = roles.members->comm()] { mpi::progress(comm); };
  return {std::make_shared<shared_memory::Client>(node, placement.when_full, placement.max_in_flight, progress),
          nullptr};
}

/// One block of the global list that the partitioner gets.
struct ListedBlock {
  PlannedBlock planned;
  std::int32_t rank = 0;
};

/// All clients' blocks, in the order of clients, meshes and ids; the same on every rank.
std::vector<ListedBlock> list_blocks(MpiCommunicator& world, const std::vector<BlockBytes>& sizes) {
  std::map<std::pair<std::int32_t, std::int64_t>, PlannedBlock> mine;
  for (const BlockBytes& one : sizes) {
    PlannedBlock& planned = mine[{one.block.mesh, one.block.id}];
    planned.block = one.block;
    planned.bytes += one.bytes;
  }
  std::vector<PlannedBlock> flat;
  for (const auto& [key, planned] : mine) flat.push_back(planned);
  std::vector<ListedBlock> all;
  const std::vector<Bytes> parts = world.all_gather(std::as_bytes(std::span(flat)));
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    for (std::size_t at = 0; at < parts[rank].size(); at += sizeof(PlannedBlock)) {
      ListedBlock& listed = all.emplace_back();
      std::memcpy(&listed.planned, parts[rank].data() + at, sizeof(PlannedBlock));
      listed.rank = static_cast<std::int32_t>(rank);
    }
  }
  return all;
}

/// Every client's routes, by rank; the same on every rank, because the partitioner is a pure function.
std::map<int, mpi::Routes> plan_routes(const std::vector<ListedBlock>& blocks, const Roles& roles,
                                       const PartitionerKind& partitioner) {
  const Metadata none;
  std::vector<PlannedBlock> planned;
  for (const ListedBlock& listed : blocks) planned.push_back(listed.planned);
  const int servers = static_cast<int>(roles.server_ranks.size());
  const Plan plan = partitioner.plan({none, planned, servers}, {});
  std::map<int, mpi::Routes> routes;
  for (const PlanPiece& piece : plan.pieces) {
    const auto b = static_cast<std::size_t>(piece.block);
    const int server = roles.server_ranks[static_cast<std::size_t>(piece.server)];
    mpi::Routes& mine = routes[blocks[b].rank];
    mine.block_server[{blocks[b].planned.block.mesh, blocks[b].planned.block.id}] = server;
    mine.servers.push_back(server);
  }
  for (std::size_t c = 0; c < roles.client_ranks.size(); ++c) {
    mpi::Routes& mine = routes[roles.client_ranks[c]];
    std::sort(mine.servers.begin(), mine.servers.end());
    mine.servers.erase(std::unique(mine.servers.begin(), mine.servers.end()), mine.servers.end());
    // A client without blocks still says when it ends an iteration, and may get blocks later.
    if (mine.servers.empty()) {
      mine.servers.push_back(roles.server_ranks[c * roles.server_ranks.size() / roles.client_ranks.size()]);
    }
  }
  return routes;
}

Wires make_nodes(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement, const Registry& registry,
                 const std::vector<BlockBytes>& sizes) {
  const std::uint64_t limit = share_of_buffer(world, roles, placement, sizes);
  const std::vector<ListedBlock> blocks = list_blocks(world, sizes);
  const std::map<int, mpi::Routes> routes =
      plan_routes(blocks, roles, registry.partitioners().at(placement.partitioner));
  auto comm = std::make_shared<MpiCommunicator>(world.comm());
  if (!roles.server) {
    return {std::make_shared<mpi::Client>(comm, routes.at(world.rank()), limit, placement.when_full,
                                          placement.max_in_flight),
            nullptr};
  }
  std::vector<int> clients;
  for (const auto& [rank, route] : routes) {
    if (std::binary_search(route.servers.begin(), route.servers.end(), world.rank())) clients.push_back(rank);
  }
  return {nullptr, std::make_shared<mpi::Server>(comm, clients)};
}

}  // namespace

Wires make_wires(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement, const Registry& registry,
                 const std::vector<BlockBytes>& sizes) {
  switch (placement.mode) {
    case PlacementMode::cores:
      return make_cores(world, roles, placement, sizes);
    case PlacementMode::nodes:
      return make_nodes(world, roles, placement, registry, sizes);
    default:
      return make_inline(world, roles, placement, sizes);
  }
}

}  // namespace sidestream
