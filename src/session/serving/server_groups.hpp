// Servers divided into groups that work side by side: docs/groups.md.
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

/// Collective over `world`, after the configuration was read: puts sizes in place of `auto`, from what rank 0 finds in
/// `placement.measured`. Throws the same Error everywhere if the groups don't fit the servers.
void settle_groups(MpiCommunicator& world, const Roles& roles, Config& config);

[[nodiscard]] std::vector<int> sizes_of(const std::vector<ServerGroup>& groups);

/// Collective over the servers, and over forwarders that reduce: which group this one belongs to; on all ranks: which
/// groups memory is shared with. Nothing without groups.
void join_group(Roles& roles, const PlacementConfig& placement);

/// Collective over the processes of an endpoint: which group this one belongs to. Sizes that are `auto` are chosen, for
/// the tasks that the file names: what they read is not known before a group has its stream. Throws the same Error
/// everywhere unless there are as many processes as the sizes add up to. Nothing without groups.
void join_group_of_endpoint(MpiCommunicator& world, Roles& roles, PlacementConfig& placement,
                            const std::vector<WrittenTask>& tasks);

/// Collective over `world`: the ledger of member `to`, joined with those of the other groups; elsewhere the member's
/// own. `mine`: null on those that have none.
[[nodiscard]] std::optional<Ledger> join_ledgers(Communicator& world, const Roles& roles,
                                                 const PlacementConfig& placement, const Ledger* mine, int to);

/// The numbers of the tasks that group `group` runs, in the file's order.
[[nodiscard]] std::vector<std::size_t> tasks_of_group(const Config& config, std::size_t group);

}  // namespace sidestream
