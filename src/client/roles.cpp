#include "client/roles.hpp"

#include <algorithm>
#include <cstring>

#include "base/agree.hpp"
#include "base/fail.hpp"

namespace sidestream {

namespace {

std::string at(const PlacementConfig& placement) {
  const std::string text = placement.where.text();
  return text.empty() ? text : text + ": ";
}

std::unique_ptr<MpiCommunicator> split_nodes(const MpiCommunicator& world, int pretended) {
  if (pretended <= 0) return world.split_by_node();
  const std::int64_t n = std::min(pretended, world.size());
  return world.split(static_cast<int>(world.rank() * n / world.size()));
}

bool dedicated(const MpiCommunicator& world, const MpiCommunicator& node, const PlacementConfig& placement) {
  switch (placement.mode) {
    case PlacementMode::cores:
      // The last ranks of a node: rank 0, which most simulations print from, stays a client.
      if (placement.per_node >= node.size()) {
        fail(Code::configuration,
             "{}placement.per_node is {}, but a node has only {} of the {} ranks; leave at least one rank for the "
             "simulation or start more ranks on each node",
             at(placement), placement.per_node, node.size(), world.size());
      }
      return node.rank() >= node.size() - placement.per_node;
    case PlacementMode::nodes:
      if (placement.servers >= world.size()) {
        fail(
            Code::configuration,
            "{}placement.servers is {}, but there are only {} ranks; leave at least one rank for the simulation or start "
            "more ranks",
            at(placement), placement.servers, world.size());
      }
      return world.rank() >= world.size() - placement.servers;
    default:
      return false;
  }
}

/// What everybody needs to know of everybody.
struct Entry {
  std::int32_t server = 0;
  std::int32_t node_leader = 0;  ///< rank of the lowest member of the node
};

std::vector<Entry> exchange(MpiCommunicator& world, const Entry& mine) {
  std::vector<Entry> entries;
  for (const Bytes& bytes : world.all_gather(std::as_bytes(std::span(&mine, 1)))) {
    std::memcpy(&entries.emplace_back(), bytes.data(), sizeof(Entry));
  }
  return entries;
}

}  // namespace

Roles assign_roles(MpiCommunicator& world, const PlacementConfig& placement) {
  Roles roles;
  roles.node_members = split_nodes(world, placement.pretend_nodes);
  together(world, [&] { roles.server = dedicated(world, *roles.node_members, placement); });
  roles.client = !roles.server;
  roles.members = world.split(roles.server ? 1 : 0);
  std::int64_t leader = world.rank();
  roles.node_members->minimum(std::span(&leader, 1));
  const std::vector<Entry> entries = exchange(world, {roles.server, static_cast<std::int32_t>(leader)});
  std::vector<int> leaders;
  for (int r = 0; r < world.size(); ++r) {
    const Entry& entry = entries[static_cast<std::size_t>(r)];
    (entry.server ? roles.server_ranks : roles.client_ranks).push_back(r);
    if (entry.node_leader == r) leaders.push_back(r);
    if (entry.node_leader != leader) continue;
    int& count = entry.server ? roles.on_node.servers : roles.on_node.clients;
    if (r == world.rank()) roles.on_node.number = count;
    ++count;
  }
  roles.on_node.server = roles.server;
  roles.nodes = static_cast<int>(leaders.size());
  roles.node = static_cast<int>(std::find(leaders.begin(), leaders.end(), leader) - leaders.begin());
  if (placement.mode == PlacementMode::inline_) roles.server_ranks = roles.client_ranks;
  return roles;
}

}  // namespace sidestream
