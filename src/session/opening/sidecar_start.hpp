// Placement `sidecar` on the simulation's side: listening for servers, waiting for servers, leaving records.
#pragma once

#include <string>
#include <vector>

#include "client/declarations.hpp"
#include "config/config.hpp"
#include "session/opening/wiring.hpp"
#include "session/serving/run_tables.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Collective over `world`, all clients: makes the nodes' shared memory and their listeners, and waits for servers on
/// all nodes, at most `attach_limit` seconds. Throws the same Error everywhere.
[[nodiscard]] Transports make_sidecar_transports(MpiCommunicator& world, const Roles& roles, const Config& config,
                                                 const Declarations& declarations, const std::string& file,
                                                 const std::vector<BlockBytes>& sizes);

/// Collective over `world`: closes the account and leaves the clients' half of the records, `run-clients.yaml`,
/// `timings-clients.csv` and `iterations-clients.csv`. The servers, who are another job, leave theirs under the usual
/// names. Returns Account::dropped, the same everywhere.
[[nodiscard]] std::int64_t write_client_records(MpiCommunicator& world, const RunFacts& facts,
                                                const OpeningConfig& opening, Publisher& publisher, RunTables* tables);

// What a simulation tells the servers that attach to it, as bytes.

struct SidecarSetup {
  Bytes declarations;               ///< Declarations::encode of what the program declared
  Bytes metadata;                   ///< the same of all meshes and variables, those of the file too, with their ids
  std::vector<std::string> events;  ///< number e is bit e
  std::string file;                 ///< the configuration's path
  std::string directory;            ///< of the results, absolute
  std::string steering;             ///< what the two sides must read alike, see steering_text
  std::int64_t clients = 0;         ///< on all nodes

  [[nodiscard]] Bytes encode() const;
  /// Throws Error(system) if the bytes end too early.
  [[nodiscard]] static SidecarSetup decode(BytesView bytes);
};

/// The parameters that can be steered, and how far ahead.
[[nodiscard]] std::string steering_text(const Config& config);

}  // namespace sidestream
