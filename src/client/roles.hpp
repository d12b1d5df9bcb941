// Who is a client and who is a server.
#pragma once

#include <memory>
#include <vector>

#include "base/communicator.hpp"
#include "config/config.hpp"
#include "transport/shared_memory/node.hpp"

namespace sidestream {

/// This rank's part, and the groups it belongs to.
struct Roles {
  bool client = true;
  bool server = false;  ///< dedicated; with `inline` nobody is
  int nodes = 1;
  int node = 0;                                   ///< this rank's node, counted by lowest rank
  shared_memory::NodeRole on_node;                ///< within the node
  std::unique_ptr<MpiCommunicator> members;       ///< the clients, or the servers: whichever this rank is
  std::unique_ptr<MpiCommunicator> node_members;  ///< everybody on this node
  std::vector<int> client_ranks, server_ranks;  ///< in the session's communicator, ascending; inline: servers = clients
};

/// Collective over `world`. Throws the same Error(configuration) everywhere if the placement does not fit the ranks.
[[nodiscard]] Roles assign_roles(MpiCommunicator& world, const PlacementConfig& placement);

}  // namespace sidestream
