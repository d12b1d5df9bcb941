// Binding of servers and forwarders to cores, and a report at the start.
#pragma once

#include "session/opening/roles.hpp"

namespace sidestream {

/// Collective. Binds a server or forwarder to its core if the placement asks for that. Rank 0 logs which ranks serve
/// and where.
void bind_servers(MpiCommunicator& world, const Roles& roles, const PlacementConfig& placement);

}  // namespace sidestream
