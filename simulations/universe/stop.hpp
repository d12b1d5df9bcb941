// Early end of a run in good order.
#pragma once

#include <mpi.h>

namespace universe {

/// Makes SIGTERM and SIGUSR1 end the run after the current step instead of at once. Batch systems and mpirun send
/// SIGTERM.
void catch_signals();

/// Collective over `comm`: true if any rank has caught one.
[[nodiscard]] bool stop_asked(MPI_Comm comm);

}  // namespace universe
