// Placement `nodes`: who reports to whom.
#pragma once

#include <cstdint>
#include <vector>

#include "base/mpi/communicator.hpp"

namespace sidestream {

/// Those that report to servers, clients or forwarders, and the servers; both are numbered from 0.
struct Reporting {
  int reporters = 1, servers = 1;

  /// The server that a reporter reports to: contiguous shares.
  [[nodiscard]] int contact_of(int reporter) const noexcept {
    return static_cast<int>(std::int64_t{reporter} * servers / reporters);
  }
  /// Servers that nobody reports to and that this reporter tells of rounds.
  [[nodiscard]] std::vector<int> left_over_for(int reporter) const;
};

/// Ranks that one process of the job talks to.
struct ServerAssignment {
  int server = -1;             ///< of a reporter: the one it reports to
  std::vector<int> left_over;  ///< likewise: those it tells of rounds
  std::vector<int> reporters;  ///< of a server, ascending
  std::vector<int> holders;    ///< of a server that fetches, by number of client: who has its values
};

/// What a process is in the placement.
struct ContactRole {
  bool server = false, reports = false;
  int number = 0;                ///< among the servers, or among those that report
  bool tells_left_over = false;  ///< who reports tells servers that nobody reports to, too
  std::vector<int> clients;      ///< whose values are here, if this process reports
};

/// Collective over `all`; `servers` are those that `role` says of, their own group there and null elsewhere. `pushed`:
/// values go to the server that their client reports to, and are had from there. Who talks to nobody learns of nobody;
/// servers alone know a rank for each client.
[[nodiscard]] ServerAssignment find_server_assignment(MpiCommunicator& all, MpiCommunicator* servers,
                                                      const Reporting& reporting, const ContactRole& role, bool pushed);

}  // namespace sidestream
