// Groups of server processes that a simulation does not start: `sidestream serve` and `sidestream endpoint`.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>

namespace sidestream {

/// The arguments of both commands.
struct AttachOptions {
  std::string file;                 ///< path of the configuration
  double wait = 60;                 ///< seconds to wait for the simulation
  std::string directory;            ///< directory of the results; empty: the one of the configuration or of the
                                    ///< simulation
  std::function<bool()> stop = {};  ///< polled often; true: the group should leave
  std::string stream = {};          ///< endpoint: name of the stream; empty: placement.stream.name
  std::string from = {};            ///< endpoint: the stream's directory; empty: placement.stream.directory
};

/// Finds the simulation, attaches, and serves until it closes or `stop` is true on one process. Collective over `comm`,
/// the whole group. Throws the same Error on all, also if the simulation died, after the iterations that it had ended
/// are finished.
void serve_sidecar(MPI_Comm comm, const AttachOptions& options);

/// Finds the stream, becomes its reader, and runs the file's analyses and outputs until the simulation closes or `stop`
/// is true on one process. Collective over `comm`, the whole group of another job. Throws the same Error on all, also
/// if the simulation died, after the delivered iterations are finished.
void run_endpoint(MPI_Comm comm, const AttachOptions& options);

}  // namespace sidestream
