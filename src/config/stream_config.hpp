// The streams of a placement; stream.hpp has their options, which stream_config.cpp declares.
#pragma once

#include <vector>

#include "config/config.hpp"
#include "sidestream/extend/stream.hpp"

namespace sidestream {

/// One stream per group; without groups only `one`.
[[nodiscard]] std::vector<StreamConfig> streams_for(const StreamConfig& one, const std::vector<ServerGroup>& groups);
/// Placement `job`: the streams that leave the simulation, one per group of servers.
[[nodiscard]] std::vector<StreamConfig> streams_of(const PlacementConfig& placement);

}  // namespace sidestream
