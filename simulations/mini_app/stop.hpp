// Early end of a run in good order, on a signal.
#pragma once

#include <mpi.h>

#include <csignal>
#include <initializer_list>

namespace mini_app {

/// True once a signal was caught. A signal handler may only write to a variable of this type.
inline volatile std::sig_atomic_t caught_signal = 0;

/// From now on SIGTERM and SIGUSR1 (which batch systems send before the time limit) request an end after the current
/// step.
inline void catch_signals() {
  for (const int signal : {SIGTERM, SIGUSR1}) std::signal(signal, [](int) { caught_signal = 1; });
}

/// Collective over `comm`: the greatest of the ranks' verdicts; a caught signal counts as 1.
inline int agreed_verdict(MPI_Comm comm, int mine = 0) {
  int verdict = mine == 0 && caught_signal != 0 ? 1 : mine;
  MPI_Allreduce(MPI_IN_PLACE, &verdict, 1, MPI_INT, MPI_MAX, comm);
  return verdict;
}

}  // namespace mini_app
