// Division of servers into groups that work concurrently; docs/groups.md describes it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "config/config.hpp"
#include "config/tasks/tasks.hpp"
#include "server/engine/ledger.hpp"
#include "session/opening/roles.hpp"

namespace sidestream {

/// Replaces sizes that are `auto`, using the measurements that rank 0 finds in `placement.measured`. Collective over
/// `world`, after the configuration was read. Throws the same Error everywhere if the groups do not fit the servers.
void settle_groups(MpiCommunicator& world, const Roles& roles, Config& config);

[[nodiscard]] std::vector<int> sizes_of(const std::vector<ServerGroup>& groups);

/// Sets the group of this server or reducing forwarder and, on all ranks, the groups that share memory with it.
/// Collective over the servers, and over forwarders that reduce. Does nothing without groups.
void join_group(Roles& roles, const PlacementConfig& placement);

/// Sets the group of this process of an endpoint. Collective over the endpoint's processes. Sizes that are `auto` are
/// chosen from the tasks that the file names, since their variables are unknown until a group has its stream. Throws
/// the same Error everywhere unless the sizes add up to the number of processes. Does nothing without groups.
void join_group_of_endpoint(MpiCommunicator& world, Roles& roles, PlacementConfig& placement,
                            const std::vector<WrittenTask>& tasks);

/// Returns on member `to` its ledger joined with those of the other groups; elsewhere the member's own. Collective over
/// `world`. `mine`: null on members without a ledger.
[[nodiscard]] std::optional<Ledger> join_ledgers(Communicator& world, const Roles& roles,
                                                 const PlacementConfig& placement, const Ledger* mine, int to);

/// The numbers of the tasks that group `group` runs, in the file's order. `uses`: the made mesh that these tasks use;
/// -1: tasks of published variables.
[[nodiscard]] std::vector<std::size_t> tasks_of_group(const Config& config, std::size_t group, std::int32_t uses = -1);

}  // namespace sidestream
