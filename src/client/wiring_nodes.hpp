// The transports of placement `nodes`.
#pragma once

#include "client/wiring.hpp"

namespace sidestream {

/// How values leave the clients of this job: by a thread of each client if MPI allows it on all of them. Collective.
/// Throws Error(usage) everywhere if the placement asks for a thread that MPI does not allow.
[[nodiscard]] mpi::Moving agree_on_moving(MpiCommunicator& world, const Roles& roles, const PlacementConfig& placement);

/// Collective. `limit`: bytes that this client may keep. `node`: the shared memory of clients and forwarders, if there
/// are any.
[[nodiscard]] Wires make_nodes(MpiCommunicator& world, const Roles& roles, const PlacementConfig& placement,
                               const Metadata& metadata, std::uint64_t limit,
                               std::shared_ptr<shared_memory::Node> node);

}  // namespace sidestream
