// From the placement to the transports.
#pragma once

#include <memory>
#include <vector>

#include "client/publisher.hpp"
#include "session/opening/roles.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/combination.hpp"
#include "sidestream/extend/transport.hpp"
#include "transport/mpi/client.hpp"
#include "transport/mpi/forwarder.hpp"

namespace sidestream {

/// The ends that this rank has; with `inline` both are one object.
struct Transports {
  std::shared_ptr<ClientTransport> client;
  std::shared_ptr<ServerTransport> server;
  std::shared_ptr<mpi::Forwarder> forwarder;  ///< reads from `server`
  std::shared_ptr<PartialSender> sender;      ///< of a forwarder that reduces
  std::shared_ptr<PartialReceiver> receiver;  ///< of a server that combines what forwarders have reduced
  /// One for each group of servers, held on all ranks, which free them together: so they come last.
  std::vector<std::shared_ptr<MpiCommunicator>> comms{};
};

/// What a client needs of its node's buffer to publish blocks of these sizes.
[[nodiscard]] shared_memory::Extents extents_of(const std::vector<BlockBytes>& sizes);

/// Collective over `world`: makes the transports of the placement. `sizes`: what this client will publish; empty on
/// servers. Throws the same Error everywhere, for example if an iteration does not fit in the buffer.
[[nodiscard]] Transports make_transports(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                                         const Metadata& metadata, const std::vector<BlockBytes>& sizes);

// The transports of placement `nodes`.

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
