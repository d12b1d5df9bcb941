// Roles of ranks (client, server or forwarder), their cores, and the assignment of clients to servers in placement
// `nodes`.
#pragma once

#include <cstdint>
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
  int first = -1;  ///< the lowest rank; -1: none
};

/// This rank's role and groups. Its size does not grow with the number of ranks.
struct Roles {
  bool client = true;
  bool server = false;     ///< dedicated: calls serve; with `inline` there is none
  bool forwarder = false;  ///< a server for its node's clients that passes values on
  int nodes = 1;
  int node = 0;                                   ///< this rank's node; nodes are numbered by their lowest rank
  shared_memory::NodeRole on_node;                ///< number among the ranks of the node that share memory
  int serving_on_node = 0;                        ///< servers and forwarders of lower rank on this node
  std::unique_ptr<MpiCommunicator> members;       ///< ranks of this rank's kind: all clients, servers or forwarders
  std::unique_ptr<MpiCommunicator> node_members;  ///< ranks of this node that share memory: clients and their servers
  RankKind clients, servers, forwarders;          ///< inline: servers = clients
  std::size_t group = 0;  ///< index for a server, or a forwarder that reduces: see server_groups.hpp
  std::unique_ptr<MpiCommunicator> group_members;  ///< servers or forwarders of that group; null without groups
  int recorder = 0;                                ///< the rank that writes this one's records
};

/// The servers, or forwarders, that work together with this one.
[[nodiscard]] inline MpiCommunicator& own_members(Roles& roles) {
  return roles.group_members ? *roles.group_members : *roles.members;
}

/// Sets the number of simulated nodes, for tests, from rank 0's environment, since environments may differ. Collective
/// over `world`. Throws the same Error(configuration) everywhere.
void agree_on_nodes(MpiCommunicator& world, PlacementConfig& placement);

/// Assigns a role to each rank. Collective over `world`. Throws the same Error(configuration) everywhere if the
/// placement does not fit the ranks.
[[nodiscard]] Roles assign_roles(MpiCommunicator& world, const PlacementConfig& placement);

// Rank look-up by a member's number in another group, without a list of all members.

/// Returns the ranks of the members with the numbers `asked`, in that order; each number may be requested once.
/// Collective over `all`; only some members have numbers, from 0. `mine`: this member's number; -1: none. The directory
/// is distributed: rank n stores the rank of number n and answers queries for it.
[[nodiscard]] std::vector<int> look_up_ranks(Communicator& all, int mine, const std::vector<int>& asked);

/// Binds a server or forwarder to its core if the placement asks for it. Collective. Rank 0 logs which ranks serve and
/// where.
void bind_servers(MpiCommunicator& world, const Roles& roles, const PlacementConfig& placement);

/// Numbers of reporters (clients or forwarders) and of servers; both are numbered from 0.
struct Reporting {
  int reporters = 1, servers = 1;

  /// The server of a reporter; servers get contiguous shares of the reporters.
  [[nodiscard]] int contact_of(int reporter) const noexcept {
    return static_cast<int>(std::int64_t{reporter} * servers / reporters);
  }
  /// Servers without reporters that this reporter notifies of rounds.
  [[nodiscard]] std::vector<int> unreported_servers(int reporter) const;
};

/// The ranks that one process of the job communicates with.
struct ServerAssignment {
  int server = -1;              ///< for a reporter: its server
  std::vector<int> unreported;  ///< for a reporter: servers that it notifies of rounds
  std::vector<int> reporters;   ///< for a server: its reporters, ascending
  std::vector<int> holders;     ///< for a server that fetches: the rank with a client's values, by number of client
};

/// The role of a process in the placement.
struct ContactRole {
  bool server = false, reports = false;
  int number = 0;                    ///< among the servers, or among the reporters
  bool notifies_unreported = false;  ///< for a reporter: true if it also notifies servers without reporters
  std::vector<int> clients;          ///< clients whose values are here, for a reporter
};

/// Finds the communication partners of this process; only servers store a rank per client. Collective over `all`.
/// `servers`: group of the ranks whose `role` is server, on these ranks; null elsewhere. `pushed`: values are sent to
/// the server of their client's reporter, which then holds them.
[[nodiscard]] ServerAssignment find_server_assignment(MpiCommunicator& all, MpiCommunicator* servers,
                                                      const Reporting& reporting, const ContactRole& role, bool pushed);

}  // namespace sidestream
