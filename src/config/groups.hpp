// `placement.groups`: groups of servers that run different tasks concurrently.
#pragma once

#include <cstddef>
#include <vector>

#include "config/config.hpp"
#include "config/expressions/expression.hpp"
#include "config/options/document.hpp"

namespace sidestream {

/// Reads the groups of `placement`, a map, in the file's order. Throws Error(configuration) if one has no name or no
/// size.
[[nodiscard]] std::vector<ServerGroup> read_groups(const Node& placement, const ExpressionContext& context);

/// The total number of servers; 0 if a size is `auto`.
[[nodiscard]] int servers_of(const std::vector<ServerGroup>& groups);

/// The least number of servers for these groups; a size that is `auto` counts as one.
[[nodiscard]] int least_servers_of(const std::vector<ServerGroup>& groups);

/// True if `servers` servers can be divided into these groups: as many as the sizes add up to or, if one is `auto`, not
/// fewer.
[[nodiscard]] bool can_be_divided(const std::vector<ServerGroup>& groups, int servers);

/// Throws Error(configuration) if `servers` servers cannot be divided so. `which`: the option with their number.
void check_group_sizes(const std::vector<ServerGroup>& groups, int servers, const char* which);

/// The index of the group of this name. Throws Error(configuration) at `where` if there is none.
[[nodiscard]] std::size_t group_named(const std::vector<ServerGroup>& groups, const std::string& name,
                                      const Location& where);

/// Throws Error(configuration) if one of the groups has no task.
void check_groups_used(const std::vector<ServerGroup>& groups, const std::vector<TaskConfig>& tasks);

/// The group of server `server`, counted from 0: groups have consecutive servers.
[[nodiscard]] std::size_t group_of_server(const std::vector<ServerGroup>& groups, int server);

// Check that a job has enough ranks for servers, forwarders and clients.

/// Throws Error(configuration), at the placement entry, if no client would remain on some node, or in all. The start
/// would do so on that many ranks. Ranks are assumed to fill the nodes in order, equally many (or one more) on each, as
/// launchers do; `nodes` is at most `ranks`.
void check_split(const PlacementConfig& placement, int ranks, int nodes);

/// Largest number of clients on a node, by the same division; 0 with `off`.
[[nodiscard]] int most_clients_on_a_node(const PlacementConfig& placement, int ranks, int nodes);

/// Total number of clients.
[[nodiscard]] int client_count(const PlacementConfig& placement, int ranks, int nodes);

}  // namespace sidestream
