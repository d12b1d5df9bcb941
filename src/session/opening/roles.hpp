// Who is a client, who a server, who a forwarder.
#pragma once

#include <memory>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "config/config.hpp"
#include "sidestream/extend/communicator.hpp"
#include "transport/shared_memory/node.hpp"

namespace sidestream {

/// Ranks of one kind in the session's communicator.
struct RankKind {
  int count = 0;
  int first = -1;  ///< the lowest; -1: there is none
};

/// This rank's part, and the groups it belongs to. Of other ranks there is nothing that grows with their number.
struct Roles {
  bool client = true;
  bool server = false;     ///< dedicated: calls serve; with `inline` nobody is
  bool forwarder = false;  ///< a server to its node's clients that passes on what it gets
  int nodes = 1;
  int node = 0;                              ///< this rank's node, counted by lowest rank
  shared_memory::NodeRole on_node;           ///< among those of the node that share memory
  int serving_on_node = 0;                   ///< servers and forwarders of lower rank on this node
  std::unique_ptr<MpiCommunicator> members;  ///< the clients, the servers or the forwarders: whichever this rank is
  std::unique_ptr<MpiCommunicator>
      node_members;                       ///< those of this node that share memory: clients, and who serves them
  RankKind clients, servers, forwarders;  ///< inline: servers = clients
  std::size_t group = 0;                  ///< of a server, or a forwarder that reduces: see server_groups.hpp
  std::unique_ptr<MpiCommunicator> group_members;  ///< the servers of it, or the forwarders; null without groups
  int recorder = 0;                                ///< the rank that writes what this one leaves about itself
};

/// The servers, or forwarders, that work together with this one.
[[nodiscard]] inline MpiCommunicator& colleagues(Roles& roles) {
  return roles.group_members ? *roles.group_members : *roles.members;
}

/// A testing override: the number of nodes to pretend is taken from the environment, which may differ between ranks, of
/// rank 0 if there is one. Collective over `world`; throws the same Error(configuration) everywhere.
void agree_on_nodes(MpiCommunicator& world, PlacementConfig& placement);

/// Collective over `world`. Throws the same Error(configuration) everywhere if the placement does not fit the ranks.
[[nodiscard]] Roles assign_roles(MpiCommunicator& world, const PlacementConfig& placement);

// Finding the ranks of members of another group by their numbers in it, without a list of all.

/// Collective over `all`. Some of its members are numbered from 0; `mine` is this one's number, -1: it has none.
/// Returns the ranks of those that have the numbers `asked`, in that order; each is asked for once. Nobody knows them
/// all: the member of rank n keeps that of number n, and answers those who ask for it.
[[nodiscard]] std::vector<int> look_up_ranks(Communicator& all, int mine, const std::vector<int>& asked);

}  // namespace sidestream
