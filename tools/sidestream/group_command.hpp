// A command that runs as a group of MPI processes: `serve`, `endpoint`.
#pragma once

#include <mpi.h>

#include <functional>

namespace sidestream {

/// Initialises MPI, runs `work` on all processes of the group and finalises MPI. `stop` says whether a signal has asked
/// the group to leave. Returns the exit status: 1 if `work` threw, whose message, the same on all, rank 0 prints.
[[nodiscard]] int run_group(const char* command,
                            const std::function<void(MPI_Comm group, const std::function<bool()>& stop)>& work);

}  // namespace sidestream
