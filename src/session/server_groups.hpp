// Servers divided into groups that work side by side: docs/groups.md.
#pragma once

#include "base/communicator.hpp"
#include "config/config.hpp"
#include "session/roles.hpp"

namespace sidestream {

/// Collective over `world`, after the configuration was read: puts sizes in place of `auto`, from what rank 0 finds in
/// `placement.measured`. Throws the same Error everywhere if the groups don't fit the servers.
void settle_groups(MpiCommunicator& world, const Roles& roles, Config& config);

/// Collective over the servers: which group this one belongs to. Nothing without groups, and on others.
void join_group(Roles& roles, const PlacementConfig& placement);

/// The numbers of the tasks that group `group` runs, in the file's order.
[[nodiscard]] std::vector<std::size_t> tasks_of_group(const Config& config, std::size_t group);

}  // namespace sidestream
