// Simulation side of placement `sidecar`: listens for servers, waits for them, and leaves records.
#pragma once

#include <string>
#include <vector>

#include "client/declarations.hpp"
#include "config/config.hpp"
#include "session/opening/wiring.hpp"
#include "session/serving/run_tables.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Creates the nodes' shared memory and listeners, and waits for servers on all nodes, at most `attach_limit` seconds.
/// The publisher learns when servers come; it must outlive their use. Collective over `world`, all clients. Throws the
/// same Error everywhere.
[[nodiscard]] Transports make_sidecar_transports(MpiCommunicator& world, const Roles& roles, const Config& config,
                                                 const Declarations& declarations, const std::string& file,
                                                 Publisher& publisher);

/// Closes the account and writes the clients' half of the records: `run-clients.yaml`, `timings-clients.csv` and
/// `iterations-clients.csv`. The servers, another job, write theirs under the usual names. Collective over `world`.
/// Returns Account::dropped, the same everywhere.
[[nodiscard]] std::int64_t write_client_records(MpiCommunicator& world, const RunFacts& facts,
                                                const OpeningConfig& opening, Publisher& publisher, RunTables* tables);

// Message of a simulation to the servers that attach to it.

struct SidecarSetup {
  Bytes declarations;               ///< Declarations::encode of the program's declarations
  Bytes metadata;                   ///< the same for all meshes and variables with their ids, also of the file
  std::vector<std::string> events;  ///< event number e is bit e
  std::string file;                 ///< path of the configuration
  std::string directory;            ///< absolute path of the results
  std::string steering;             ///< steering settings that must be equal on both sides, see steering_text
  std::int64_t clients = 0;         ///< number on all nodes

  [[nodiscard]] Bytes encode() const;
  /// Throws Error(system) if the bytes end too early.
  [[nodiscard]] static SidecarSetup decode(BytesView bytes);
};

/// The steerable parameters, and how many iterations ahead they are set.
[[nodiscard]] std::string steering_text(const Config& config);

}  // namespace sidestream
