#include "session/server_groups.hpp"

#include "base/agree.hpp"
#include "config/groups.hpp"

namespace sidestream {

void settle_groups(MpiCommunicator& world, const Roles& roles, Config& config) {
  PlacementConfig& placement = config.opening.placement;
  if (placement.groups.empty()) return;
  const bool nodes = placement.mode == PlacementMode::nodes;
  const int servers = nodes ? roles.servers.count : placement.per_node;
  together(world, [&] {
    const char* const which = placement.whole_nodes > 0 ? "whole_nodes" : nodes ? "servers" : "per_node";
    check_group_sizes(placement.groups, servers, which);
  });
}

void join_group(Roles& roles, const PlacementConfig& placement) {
  if (placement.groups.empty() || !roles.server) return;
  const bool nodes = placement.mode == PlacementMode::nodes;
  roles.group = group_of_server(placement.groups, nodes ? roles.members->rank() : roles.on_node.number);
  roles.group_members = roles.members->group(static_cast<int>(roles.group));
}

std::vector<std::size_t> tasks_of_group(const Config& config, std::size_t group) {
  std::vector<std::size_t> numbers;
  const bool all = config.opening.placement.groups.empty();
  for (std::size_t n = 0; n < config.tasks.size(); ++n) {
    if (all || config.tasks[n].group == group) numbers.push_back(n);
  }
  return numbers;
}

}  // namespace sidestream
