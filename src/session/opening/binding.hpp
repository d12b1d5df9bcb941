// Where servers and forwarders run: bound to cores if asked, and said at the start.
#pragma once

#include "session/opening/roles.hpp"

namespace sidestream {

/// Binds a server or forwarder to its core, if the placement says so; a line on rank 0 says who serves and where.
/// Collective.
void bind_servers(MpiCommunicator& world, const Roles& roles, const PlacementConfig& placement);

}  // namespace sidestream
