// A group of server processes that attaches to a simulation: what `sidestream serve` runs.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>

namespace sidestream {

struct SidecarOptions {
  std::string file;            ///< the configuration
  double wait = 60;            ///< seconds to wait for the simulation
  std::string directory;       ///< of the results, instead of the configuration's; empty: that of the simulation
  std::function<bool()> stop;  ///< asked often: somebody wants the group to leave
};

/// Collective over `comm`, the whole group: finds the simulation, attaches, serves until it closes or `stop` is true on
/// one of them. Throws the same Error on all; also when the simulation died, after what it had ended is finished.
void serve_sidecar(MPI_Comm comm, const SidecarOptions& options);

}  // namespace sidestream
