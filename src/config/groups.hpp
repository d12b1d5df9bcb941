// `placement.groups`: who runs what, side by side.
#pragma once

#include <cstddef>
#include <vector>

#include "config/config.hpp"
#include "config/expressions/expression.hpp"
#include "config/options/document.hpp"

namespace sidestream {

/// The groups that `placement`, a map, names, in the file's order. Throws Error(configuration) if one has no name or no
/// size.
[[nodiscard]] std::vector<ServerGroup> read_groups(const Node& placement, const ExpressionContext& context);

/// Servers that sizes add up to; 0 if one of them is `auto`.
[[nodiscard]] int servers_of(const std::vector<ServerGroup>& groups);

/// The fewest servers that can be divided so: one for each size that is `auto`.
[[nodiscard]] int least_servers_of(const std::vector<ServerGroup>& groups);

/// Whether `servers` servers can be divided so: as many as the sizes add up to, or, if one is `auto`, not fewer.
[[nodiscard]] bool can_be_divided(const std::vector<ServerGroup>& groups, int servers);

/// Throws Error(configuration) if `servers` servers can't be divided so. `which`: the option that says how many there
/// are.
void check_group_sizes(const std::vector<ServerGroup>& groups, int servers, const char* which);

/// The number of the group of this name. Throws Error(configuration) at `where` if there is none.
[[nodiscard]] std::size_t group_named(const std::vector<ServerGroup>& groups, const std::string& name,
                                      const Location& where);

/// Throws Error(configuration) if nothing runs in one of the groups.
void check_groups_used(const std::vector<ServerGroup>& groups, const std::vector<TaskConfig>& tasks);

/// The group of server `server`, counted from 0: groups follow one another.
[[nodiscard]] std::size_t group_of_server(const std::vector<ServerGroup>& groups, int server);

// Whether the ranks of a job suffice for servers, forwarders and clients.

/// Throws Error(configuration), at the placement entry, if on some node, or in all, no client would remain, as starting
/// on so many ranks would. Ranks are thought to fill the nodes in order, equally many (or one more) on each, which is
/// what launchers do; `nodes` is at most `ranks`.
void check_split(const PlacementConfig& placement, int ranks, int nodes);

/// Clients on the node that has most of them, by the same division; 0 with `off`.
[[nodiscard]] int most_clients_on_a_node(const PlacementConfig& placement, int ranks, int nodes);

/// Clients in all.
[[nodiscard]] int client_count(const PlacementConfig& placement, int ranks, int nodes);

}  // namespace sidestream
