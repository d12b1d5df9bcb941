#include "session/serving/server_groups.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "base/mpi/agree.hpp"
#include "config/group_sizes.hpp"
#include "config/groups.hpp"
#include "session/opening/modules.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

namespace {

/// Chooses the sizes that are `auto` from the measurements, which member 0 reads and broadcasts. Collective.
void choose_sizes_together(MpiCommunicator& world, PlacementConfig& placement, const std::vector<GroupedTask>& tasks,
                           int servers, int nodes) {
  std::string measured;
  run_collectively(world, [&] {
    if (world.rank() == 0) measured = read_configuration_file(placement.measured, "make it with `sidestream groups`");
  });
  share_text(world, measured);
  run_collectively(world, [&] {
    choose_sizes(placement.groups, tasks, read_costs(measured, placement.measured), servers, nodes);
    if (world.rank() != 0) return;
    std::string text;
    for (const ServerGroup& group : placement.groups) text += fmt::format(", {}: {}", group.name, group.size);
    log::info("groups of servers, by '{}': {}", placement.measured, text.substr(2));
  });
}

}  // namespace

void settle_groups(MpiCommunicator& world, const Roles& roles, Config& config) {
  PlacementConfig& placement = config.opening.placement;
  if (placement.groups.empty() || placement.mode == PlacementMode::job) return;  // the endpoint divides itself
  const bool nodes = placement.mode == PlacementMode::nodes;
  const int servers = nodes ? roles.servers.count : placement.per_node;
  run_collectively(world, [&] {
    const char* const which = placement.whole_nodes > 0 ? "whole_nodes" : nodes ? "servers" : "per_node";
    check_group_sizes(placement.groups, servers, which);
  });
  if (servers_of(placement.groups) > 0) return;
  choose_sizes_together(world, placement, grouped(config.tasks), servers, nodes ? 1 : roles.nodes);
}

std::vector<int> sizes_of(const std::vector<ServerGroup>& groups) {
  std::vector<int> sizes;
  for (const ServerGroup& group : groups) sizes.push_back(group.size);
  return sizes;
}

namespace {

/// Sizes of the groups that share memory with clients: the servers of a node or, as evenly as possible, forwarders that
/// reduce and senders.
std::vector<int> sizes_on_node(const PlacementConfig& placement) {
  const bool job = placement.mode == PlacementMode::job;
  if (placement.mode != PlacementMode::nodes && !job) return sizes_of(placement.groups);
  if (placement.forward != Forward::partials && !job) return {};
  const auto groups = static_cast<int>(placement.groups.size());
  std::vector<int> sizes;
  for (int g = 0; g < groups; ++g) sizes.push_back(placement.per_node / groups + (g < placement.per_node % groups));
  return sizes;
}

}  // namespace

void join_group(Roles& roles, const PlacementConfig& placement) {
  if (placement.groups.empty()) return;
  roles.on_node.groups = sizes_on_node(placement);
  const bool reduces = roles.forwarder && placement.forward == Forward::partials;
  if (!roles.server && !reduces) return;
  const bool by_node = placement.mode != PlacementMode::nodes || reduces;
  roles.group = by_node ? shared_memory::group_of(roles.on_node.number, roles.on_node)
                        : group_of_server(placement.groups, roles.members->rank());
  roles.group_members = roles.members->group(static_cast<int>(roles.group));
}

void join_group_of_endpoint(MpiCommunicator& world, Roles& roles, PlacementConfig& placement,
                            const std::vector<WrittenTask>& tasks) {
  const std::vector<ServerGroup>& groups = placement.groups;
  if (groups.empty()) return;
  const bool exact = servers_of(groups) > 0;
  const int least = least_servers_of(groups);
  run_collectively(world, [&] {
    if (can_be_divided(groups, world.size())) return;
    fail(Code::configuration,
         "{}: found groups of {}{} servers in all and an endpoint of {} process{}, expected as many; start it with "
         "mpirun -n {}, or change the sizes",
         groups.front().where.text(), exact ? "" : "at least ", least, world.size(), world.size() == 1 ? "" : "es",
         least);
  });
  if (!exact) {
    std::vector<GroupedTask> all;
    run_collectively(world, [&] { all = grouped(tasks, groups); });
    choose_sizes_together(world, placement, all, world.size(), 1);
  }
  roles.group = group_of_server(groups, world.rank());
  roles.group_members = world.group(static_cast<int>(roles.group));
}

std::optional<Ledger> join_ledgers(Communicator& world, const Roles& roles, const PlacementConfig& placement,
                                   const Ledger* mine, int to) {
  std::optional<Ledger> joint;
  if (mine) joint = *mine;
  if (placement.groups.empty()) return joint;
  std::vector<MemberMessage> messages;
  const bool tells = mine && roles.group_members && roles.group_members->rank() == 0 && world.rank() != to;
  if (tells) {
    ByteWriter out;
    out.put(roles.group);
    const Bytes decisions = mine->decisions();
    out.put_all(std::span(decisions));
    messages.push_back({to, out.take()});
  }
  std::string so_far = mine ? fmt::format("'{}'", placement.groups.at(roles.group).name) : std::string();
  for (const MemberMessage& message : world.exchange(std::move(messages))) {
    const auto group = record_of<std::size_t>(BytesView(message.bytes).first(sizeof(std::size_t)));
    const std::string& name = placement.groups.at(group).name;
    joint->join(BytesView(message.bytes).subspan(sizeof group), name, so_far);
    so_far += fmt::format(", '{}'", name);
  }
  return joint;
}

std::vector<std::size_t> tasks_of_group(const Config& config, std::size_t group, std::int32_t uses) {
  std::vector<std::size_t> numbers;
  const bool all = config.opening.placement.groups.empty();
  for (std::size_t n = 0; n < config.tasks.size(); ++n) {
    const TaskConfig& task = config.tasks[n];
    if (task.uses == uses && (all || task.group == group)) numbers.push_back(n);
  }
  return numbers;
}

}  // namespace sidestream
