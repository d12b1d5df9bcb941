// The transports of placement `nodes`.
#pragma once

#include "session/opening/wiring.hpp"

namespace sidestream {

/// How values leave the clients of this job: by a thread of each client if MPI allows it on all of them. Collective.
/// Throws Error(usage) everywhere if the placement asks for a thread that MPI does not allow.
[[nodiscard]] mpi::Moving agree_on_moving(MpiCommunicator& world, const Roles& roles, const PlacementConfig& placement);

/// Where this client's values lie until servers have them.
struct NodesBuffer {
  std::uint64_t own = 0;                      ///< bytes that nobody else uses
  std::shared_ptr<Lender> rest;               ///< for more; null with forwarders
  std::shared_ptr<shared_memory::Node> node;  ///< the shared memory of clients and forwarders, if there are any
};

/// Collective.
[[nodiscard]] Transports make_nodes(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                                    const Metadata& metadata, const NodesBuffer& buffer);

}  // namespace sidestream
