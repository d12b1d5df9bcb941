// The processes of another job that read a stream: what `sidestream endpoint` runs.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>

namespace sidestream {

struct EndpointOptions {
  std::string file;                 ///< the configuration
  std::string stream;               ///< name of the stream to read, instead of placement.stream.name; empty: that
  std::string from;                 ///< its directory, instead of placement.stream.directory; empty: that
  std::string directory;            ///< of the results, instead of output.directory; empty: that
  double wait = 300;                ///< seconds to wait for the simulation
  std::function<bool()> stop = {};  ///< asked often: somebody wants the group to leave
};

/// Collective over `comm`, the whole group: finds the stream, becomes its reader, runs the file's analyses and outputs
/// until the simulation closes or `stop` is true on one of them. Throws the same Error on all; also when the simulation
/// died, after what it had handed over is finished.
void run_endpoint(MPI_Comm comm, const EndpointOptions& options);

}  // namespace sidestream
