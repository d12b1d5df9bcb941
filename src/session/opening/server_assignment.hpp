// Assignment of clients to servers in placement `nodes`.
#pragma once

#include <cstdint>
#include <vector>

#include "base/mpi/communicator.hpp"

namespace sidestream {

/// Numbers of reporters (clients or forwarders) and of servers; both are numbered from 0.
struct Reporting {
  int reporters = 1, servers = 1;

  /// The server of a reporter: contiguous shares.
  [[nodiscard]] int contact_of(int reporter) const noexcept {
    return static_cast<int>(std::int64_t{reporter} * servers / reporters);
  }
  /// Servers without reporters that this reporter notifies of rounds.
  [[nodiscard]] std::vector<int> left_over_for(int reporter) const;
};

/// The ranks that one process of the job communicates with.
struct ServerAssignment {
  int server = -1;             ///< for a reporter: its server
  std::vector<int> left_over;  ///< for a reporter: servers that it notifies of rounds
  std::vector<int> reporters;  ///< for a server: its reporters, ascending
  std::vector<int> holders;    ///< for a server that fetches: the rank with a client's values, by number of client
};

/// The role of a process in the placement.
struct ContactRole {
  bool server = false, reports = false;
  int number = 0;                ///< among the servers, or among the reporters
  bool tells_left_over = false;  ///< for a reporter: true if it also notifies servers without reporters
  std::vector<int> clients;      ///< clients whose values are here, for a reporter
};

/// Collective over `all`. `servers`: the group of the ranks whose `role` is server, on these; null elsewhere. `pushed`:
/// values are sent to the server of their client's reporter, which then holds them. The result only lists the ranks
/// that this process communicates with; only servers store a rank per client.
[[nodiscard]] ServerAssignment find_server_assignment(MpiCommunicator& all, MpiCommunicator* servers,
                                                      const Reporting& reporting, const ContactRole& role, bool pushed);

}  // namespace sidestream
