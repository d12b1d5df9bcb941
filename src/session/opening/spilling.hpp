// Where the clients of a node put blocks that find no room (`when_full: spill`).
#pragma once

#include <memory>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "client/publisher.hpp"
#include "config/config.hpp"
#include "session/opening/roles.hpp"
#include "transport/shared_memory/spill/spill_file.hpp"

namespace sidestream {

/// Where `placement` says nothing, `$TMPDIR` or /tmp; an absolute path, as servers have other working directories. To
/// be called while a session opens.
void settle_spilling(PlacementConfig& placement, const std::string& folder);

/// Collective over `world`. This client's file, with a share of the node's bytes that is as large as its share of what
/// the node's clients publish; null on servers, and without `when_full: spill`. Removes first what dead runs have left.
/// Throws the same Error on every rank.
[[nodiscard]] std::unique_ptr<shared_memory::SpillFile> make_spill_file(MpiCommunicator& world, const Roles& roles,
                                                                        const PlacementConfig& placement,
                                                                        const std::vector<BlockBytes>& sizes);

}  // namespace sidestream
