// Whether the ranks of a job suffice for servers, forwarders and clients.
#pragma once

#include "config/config.hpp"

namespace sidestream {

/// Throws Error(configuration), at the placement entry, if on some node, or in all, no client would remain, as starting
/// on so many ranks would. Ranks are thought to fill the nodes in order, equally many (or one more) on each, which is
/// what launchers do; `nodes` is at most `ranks`.
void check_split(const PlacementConfig& placement, int ranks, int nodes);

/// Clients on the node that has most of them, by the same division; 0 with `off`.
[[nodiscard]] int most_clients_on_a_node(const PlacementConfig& placement, int ranks, int nodes);

/// Clients in all.
[[nodiscard]] int client_count(const PlacementConfig& placement, int ranks, int nodes);

}  // namespace sidestream
