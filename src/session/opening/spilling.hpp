// Files for blocks that do not fit the buffer of a node (`when_full: spill`).
#pragma once

#include <memory>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "client/publisher.hpp"
#include "config/config.hpp"
#include "session/opening/roles.hpp"
#include "transport/shared_memory/spill/spill_file.hpp"

namespace sidestream {

/// Sets the spill folder if the placement has none: `$TMPDIR` or /tmp. The path becomes absolute, since servers have
/// other working directories. Call while a session opens.
void settle_spilling(PlacementConfig& placement, const std::string& folder);

/// Collective over `world`. Returns this client's file; null on servers, and without `when_full: spill`. Its limit is a
/// share of the node's bytes, in proportion to what this client publishes among the node's clients. First removes files
/// of dead runs. Throws the same Error on every rank.
[[nodiscard]] std::unique_ptr<shared_memory::SpillFile> make_spill_file(MpiCommunicator& world, const Roles& roles,
                                                                        const PlacementConfig& placement,
                                                                        const std::vector<BlockBytes>& sizes);

}  // namespace sidestream
