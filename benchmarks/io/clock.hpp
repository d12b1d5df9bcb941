#pragma once

#include <mpi.h>

#include <chrono>

namespace io {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds of `work` on the slowest rank, started together.
template <class Work>
double slowest(MPI_Comm comm, Work&& work) {
  MPI_Barrier(comm);
  const double start = now();
  work();
  double seconds = now() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

}  // namespace io
