#include "session/roles.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/agree.hpp"
#include "base/fail.hpp"
#include "base/records.hpp"

namespace sidestream {

namespace {

std::string at(const PlacementConfig& placement) {
  const std::string text = placement.where.text();
  return text.empty() ? text : text + ": ";
}

std::unique_ptr<MpiCommunicator> split_nodes(const MpiCommunicator& world, int pretended) {
  if (pretended <= 0) return world.split_by_node();
  const std::int64_t n = std::min(pretended, world.size());
  return world.group(static_cast<int>(world.rank() * n / world.size()));
}

/// The last ranks of a node: rank 0, which most simulations print from, stays a client.
bool is_last(const MpiCommunicator& world, const MpiCommunicator& node, const PlacementConfig& placement) {
  if (placement.per_node >= node.size()) {
    fail(
        Code::configuration,
        "{}placement.per_node is {}, but a node has only {} of the {} ranks; leave at least one rank for the simulation "
        "or start more ranks on each node",
        at(placement), placement.per_node, node.size(), world.size());
  }
  return node.rank() >= node.size() - placement.per_node;
}

bool is_listed(const MpiCommunicator& world, const PlacementConfig& placement) {
  std::vector<int> ranks = placement.ranks;
  std::sort(ranks.begin(), ranks.end());
  const bool twice = std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end();
  if (twice || ranks.back() >= world.size()) {
    fail(Code::configuration, "{}placement.ranks names {}, expected different ranks from 0 to {}; correct the list",
         at(placement), twice ? "a rank twice" : fmt::format("rank {}", ranks.back()), world.size() - 1);
  }
  if (static_cast<int>(ranks.size()) >= world.size()) {
    fail(Code::configuration, "{}placement.ranks names all {} ranks; leave at least one for the simulation",
         at(placement), world.size());
  }
  return std::binary_search(ranks.begin(), ranks.end(), world.rank());
}

bool serves_nodes(const MpiCommunicator& world, int node, int nodes, const PlacementConfig& placement) {
  if (!placement.ranks.empty()) return is_listed(world, placement);
  if (placement.whole_nodes > 0) {
    if (placement.whole_nodes >= nodes) {
      fail(
          Code::configuration,
          "{}placement.whole_nodes is {}, but there are only {} nodes; leave at least one for the simulation or start on "
          "more nodes",
          at(placement), placement.whole_nodes, nodes);
    }
    return node >= nodes - placement.whole_nodes;
  }
  if (placement.servers >= world.size()) {
    fail(
        Code::configuration,
        "{}placement.servers is {}, but there are only {} ranks; leave at least one rank for the simulation or start more "
        "ranks",
        at(placement), placement.servers, world.size());
  }
  return world.rank() >= world.size() - placement.servers;
}

/// What everybody needs to know of everybody.
struct Entry {
  std::int32_t server = 0, forwarder = 0;
  std::int32_t node = 0;
};

template <class T>
std::vector<T> exchange(MpiCommunicator& world, const T& mine) {
  std::vector<T> entries;
  for (const Bytes& bytes : world.all_gather(bytes_of(mine))) entries.push_back(record_of<T>(bytes));
  return entries;
}

/// Numbers the nodes by their lowest rank.
void number_nodes(MpiCommunicator& world, MpiCommunicator& node, Roles& roles) {
  std::int64_t leader = world.rank();
  node.minimum(std::span(&leader, 1));
  std::vector<std::int64_t> leaders = exchange(world, leader);
  std::sort(leaders.begin(), leaders.end());
  leaders.erase(std::unique(leaders.begin(), leaders.end()), leaders.end());
  roles.nodes = static_cast<int>(leaders.size());
  roles.node = static_cast<int>(std::find(leaders.begin(), leaders.end(), leader) - leaders.begin());
}

/// Lists of ranks, and this rank's place among those of its node that share memory.
void list_ranks(const MpiCommunicator& world, const std::vector<Entry>& entries, bool forwards, Roles& roles) {
  for (int r = 0; r < world.size(); ++r) {
    const Entry& entry = entries[static_cast<std::size_t>(r)];
    auto& list = entry.server ? roles.server_ranks : entry.forwarder ? roles.forwarder_ranks : roles.client_ranks;
    list.push_back(r);
    if (entry.node != roles.node || (forwards && entry.server)) continue;
    int& count = entry.server || entry.forwarder ? roles.on_node.servers : roles.on_node.clients;
    if (r == world.rank()) roles.on_node.number = count;
    ++count;
  }
  roles.on_node.server = roles.server || roles.forwarder;
}

/// Each client's forwarder: clients of a node are shared out as their servers in shared memory are.
void find_holders(const std::vector<Entry>& entries, Roles& roles) {
  std::vector<shared_memory::NodeRole> nodes(static_cast<std::size_t>(roles.nodes));
  std::vector<std::vector<int>> forwarders(static_cast<std::size_t>(roles.nodes));
  for (std::size_t r = 0; r < entries.size(); ++r) {
    const auto node = static_cast<std::size_t>(entries[r].node);
    if (entries[r].forwarder) forwarders[node].push_back(static_cast<int>(r));
    nodes[node].clients += !entries[r].server && !entries[r].forwarder;
    nodes[node].servers += entries[r].forwarder;
  }
  std::vector<int> seen(nodes.size(), 0);
  for (const int rank : roles.client_ranks) {
    const auto node = static_cast<std::size_t>(entries[static_cast<std::size_t>(rank)].node);
    const int number = seen[node]++;
    roles.holders.push_back(
        forwarders[node].empty() ? rank : forwarders[node][static_cast<std::size_t>(server_of(number, nodes[node]))]);
  }
}

/// From the environment, else `configured`.
int pretended_nodes(int configured) {
  const char* value = std::getenv("SIDESTREAM_PRETEND_NODES");
  if (!value || !*value) return configured;
  char* end = nullptr;
  const long nodes = std::strtol(value, &end, 10);
  if (*end || nodes < 1 || nodes > 1'000'000) {
    fail(Code::configuration, "SIDESTREAM_PRETEND_NODES is '{}', expected a whole number from 1; correct or unset it",
         value);
  }
  return static_cast<int>(nodes);
}

}  // namespace

void agree_on_nodes(MpiCommunicator& world, PlacementConfig& placement) {
  std::int64_t nodes = 0;
  together(world, [&] {
    if (world.rank() == 0) nodes = pretended_nodes(placement.pretend_nodes);
  });
  world.maximum(std::span(&nodes, 1));
  placement.pretend_nodes = static_cast<int>(nodes);
}

Roles assign_roles(MpiCommunicator& world, const PlacementConfig& placement) {
  Roles roles;
  std::unique_ptr<MpiCommunicator> node = split_nodes(world, placement.pretend_nodes);
  number_nodes(world, *node, roles);
  const bool nodes = placement.mode == PlacementMode::nodes;
  const bool forwards = nodes && placement.forward != Forward::none;
  together(world, [&] {
    const bool by_node = placement.mode == PlacementMode::cores || placement.mode == PlacementMode::job;
    if (by_node) roles.server = is_last(world, *node, placement);
    if (nodes) roles.server = serves_nodes(world, roles.node, roles.nodes, placement);
  });
  // With forwarders, servers share no memory with clients; a node of servers alone has no forwarder.
  roles.node_members = forwards ? node->group(roles.server ? 1 : 0) : std::move(node);
  together(world, [&] {
    if (forwards && !roles.server) roles.forwarder = is_last(world, *roles.node_members, placement);
  });
  roles.client = !roles.server && !roles.forwarder;
  roles.members = world.group(roles.server ? 1 : roles.forwarder ? 2 : 0);
  const std::vector<Entry> entries = exchange(world, Entry{roles.server, roles.forwarder, roles.node});
  list_ranks(world, entries, forwards, roles);
  find_holders(entries, roles);
  if (placement.mode == PlacementMode::inline_) roles.server_ranks = roles.client_ranks;
  return roles;
}

}  // namespace sidestream
