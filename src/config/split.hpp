// Whether the ranks of a job suffice for servers and clients.
#pragma once

#include "config/config.hpp"

namespace sidestream {

/// Throws Error(configuration), at the placement entry, if no client would remain: `cores` needs a rank more
/// than per_node on every node, `nodes` a rank more than servers. `smallest_node`: ranks on the node that has
/// the fewest.
void check_split(const PlacementConfig& placement, int ranks, int smallest_node);

}  // namespace sidestream
