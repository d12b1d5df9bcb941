// Early end of a run in good order: on a signal, or because a rank failed.
#pragma once

#include <mpi.h>

namespace oscillators {

/// Agreement of the ranks after each step; the greatest wins.
enum class Verdict : int { go_on = 0, stop = 1, failed = 2 };

/// From now on SIGTERM and SIGUSR1 (which batch systems send before the time limit) request an end after the current
/// step.
void catch_signals();

/// Collective over `comm`: the worst verdict of all ranks; a caught signal counts as `stop`.
[[nodiscard]] Verdict agree(MPI_Comm comm, Verdict mine);

}  // namespace oscillators
