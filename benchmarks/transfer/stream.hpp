// The same blocks through Sidestream, placement `nodes`.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

#include "case.hpp"

namespace transfer {

/// Times when a server's analysis saw each step: seconds of a clock shared by all processes of a machine.
using Arrivals = std::vector<double>;

/// Current time of that clock in seconds.
[[nodiscard]] double seconds_now();

/// Collective over `comm`: runs a session whose analysis reads one value of each block. `placement` goes into the
/// braces after `mode: nodes, servers: ...`. `simulate` runs on clients: it gets a function that publishes a step and
/// ends the iteration. Returns the arrival times of the steps, on servers.
[[nodiscard]] Arrivals with_session(MPI_Comm comm, const Case& c, const std::string& placement, int steps,
                                    const std::function<void(const std::function<void(int)>& publish)>& simulate);

/// Seconds per step of a stream of steps, counted as in bare_stream. Collective, the same on every rank.
[[nodiscard]] double sidestream_stream(MPI_Comm comm, const Case& c, const std::string& placement);

}  // namespace transfer
