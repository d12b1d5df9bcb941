// The same blocks through Sidestream, placement `nodes`.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

#include "case.hpp"

namespace transfer {

/// When a server's analysis saw each step: seconds of a clock that all processes of a machine share.
using Arrivals = std::vector<double>;

/// Seconds of that clock.
[[nodiscard]] double seconds_now();

/// Runs a session whose analysis looks at one value of each block. `placement` goes into the braces after `mode: nodes,
/// servers: ...`. `simulate` runs on clients: it gets a function that publishes a step and ends the iteration.
/// Collective over `comm`; returns when each step arrived, on servers.
[[nodiscard]] Arrivals with_session(MPI_Comm comm, const Case& c, const std::string& placement, int steps,
                                    const std::function<void(const std::function<void(int)>& publish)>& simulate);

/// Seconds per step of a stream of steps, counted as bare_stream does. Collective, the same on every rank.
[[nodiscard]] double sidestream_stream(MPI_Comm comm, const Case& c, const std::string& placement);

}  // namespace transfer
