// The processes of another job that read a stream, run by `sidestream endpoint`.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>

namespace sidestream {

struct EndpointOptions {
  std::string file;                 ///< path of the configuration
  std::string stream;               ///< name of the stream to read instead of placement.stream.name; empty: that one
  std::string from;                 ///< its directory instead of placement.stream.directory; empty: that one
  std::string directory;            ///< directory of the results instead of output.directory; empty: that one
  double wait = 300;                ///< seconds to wait for the simulation
  std::function<bool()> stop = {};  ///< polled often; true: the group is to leave
};

/// Collective over `comm`, the whole group. Finds the stream, becomes its reader, and runs the file's analyses and
/// outputs until the simulation closes or `stop` is true on one process. Throws the same Error on all, also if the
/// simulation died, after the delivered iterations are finished.
void run_endpoint(MPI_Comm comm, const EndpointOptions& options);

}  // namespace sidestream
