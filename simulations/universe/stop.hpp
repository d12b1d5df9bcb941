// Early end of a run in good order.
#pragma once

#include <mpi.h>

namespace universe {

/// From now on SIGTERM, which batch systems and mpirun send, and SIGUSR1 end the run after the current step instead of
/// at once.
void catch_signals();

/// Collective over `comm`: true if any rank has caught one.
[[nodiscard]] bool stop_asked(MPI_Comm comm);

}  // namespace universe
