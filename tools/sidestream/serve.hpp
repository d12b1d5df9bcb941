// `sidestream serve`: server processes of the placement `sidecar`.
#pragma once

#include <string>

namespace sidestream {

struct ServeOptions {
  std::string file, directory;
  double wait = 60;
};

/// Initialises MPI, serves, finalises. SIGTERM, SIGINT and SIGUSR1 make the group leave after the iteration that it is
/// at. Returns the exit status; says on standard error what went wrong.
[[nodiscard]] int serve(const ServeOptions& options);

}  // namespace sidestream
