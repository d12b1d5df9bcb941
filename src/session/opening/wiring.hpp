// Transports of each placement, and the files of clients that spill.
#pragma once

#include <memory>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "client/publisher.hpp"
#include "config/config.hpp"
#include "session/opening/roles.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/combination.hpp"
#include "sidestream/extend/transport.hpp"
#include "transport/mpi/client.hpp"
#include "transport/mpi/forwarder.hpp"
#include "transport/shared_memory/spill/spill_file.hpp"

namespace sidestream {

/// The transport ends of this rank; with `inline` both are one object.
struct Transports {
  std::shared_ptr<ClientTransport> client;
  std::shared_ptr<ServerTransport> server;
  std::shared_ptr<mpi::Forwarder> forwarder;  ///< reads from `server`
  std::shared_ptr<PartialSender> sender;      ///< of a forwarder that reduces
  std::shared_ptr<PartialReceiver> receiver;  ///< on a server that combines the reductions of forwarders
  /// One communicator per group of servers, on all ranks, which free it together. The last member, so that it is
  /// destroyed first.
  std::vector<std::shared_ptr<MpiCommunicator>> comms{};
};

/// The part of its node's buffer that a client needs to publish blocks of these sizes.
[[nodiscard]] shared_memory::Extents extents_of(const std::vector<BlockBytes>& sizes);

/// Makes the transports of the placement. `sizes`: the blocks that this client will publish; empty on servers.
/// Collective over `world`. Throws the same Error everywhere, for example if an iteration does not fit in the buffer.
[[nodiscard]] Transports make_transports(MpiCommunicator& world, Roles& roles, const PlacementConfig& placement,
                                         const Metadata& metadata, const std::vector<BlockBytes>& sizes);

// Files for blocks that do not fit the buffer of a node (`when_full: spill`).

/// Sets the spill folder if the placement has none: `$TMPDIR` or /tmp. The path becomes absolute, since servers have
/// other working directories. Call while a session opens.
void settle_spilling(PlacementConfig& placement, const std::string& folder);

/// Returns this client's spill file; null on servers, and without `when_full: spill`. Its limit is the client's share
/// of the node's bytes, in proportion to what it publishes. Removes files of dead runs before. Collective over `world`.
/// Throws the same Error on every rank.
[[nodiscard]] std::unique_ptr<shared_memory::SpillFile> make_spill_file(MpiCommunicator& world, const Roles& roles,
                                                                        const PlacementConfig& placement,
                                                                        const std::vector<BlockBytes>& sizes);

}  // namespace sidestream
