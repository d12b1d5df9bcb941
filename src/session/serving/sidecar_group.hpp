// A group of server processes that attaches to a simulation, run by `sidestream serve`.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>

namespace sidestream {

struct SidecarOptions {
  std::string file;            ///< path of the configuration
  double wait = 60;            ///< seconds to wait for the simulation
  std::string directory;       ///< directory of the results instead of the configuration's; empty: that of the
                               ///< simulation
  std::function<bool()> stop;  ///< polled often; true: the group is to leave
};

/// Collective over `comm`, the whole group. Finds the simulation, attaches, and serves until it closes or `stop` is
/// true on one process. Throws the same Error on all, also if the simulation died, after the iterations it ended are
/// finished.
void serve_sidecar(MPI_Comm comm, const SidecarOptions& options);

}  // namespace sidestream
