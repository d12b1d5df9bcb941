// From the placement to the transports.
#pragma once

#include <memory>
#include <vector>

#include "client/publisher.hpp"
#include "client/roles.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// The ends that this rank has; with `inline` both are one object.
struct Wires {
  std::shared_ptr<ClientTransport> client;
  std::shared_ptr<ServerTransport> server;
};

/// Collective over `world`: makes the transports of the placement. `sizes`: what this client will publish; empty on
/// servers. Throws the same Error everywhere, for example if an iteration does not fit in the buffer.
[[nodiscard]] Wires make_wires(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                               const Registry& registry, const std::vector<BlockBytes>& sizes);

}  // namespace sidestream
