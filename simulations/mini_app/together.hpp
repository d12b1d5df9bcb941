// Collective error handling: an exception on one rank ends the simulation on all, which would otherwise wait for it
// forever. With `on_error: stop` ranks learn of a failed analysis when they end an iteration, and not all in the same
// one.
#pragma once

#include <mpi.h>

#include <exception>
#include <stdexcept>
#include <string>

namespace mini_app {

/// Collective over `comm`: calls `work()`. If it throws on any rank, the exception of the lowest such rank is thrown on
/// all. `work` may make collective calls as long as no rank throws before another gets there.
template <class Work>
void together(MPI_Comm comm, const Work& work) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::string text;
  int failed = ranks;
  try {
    work();
  } catch (const std::exception& error) {
    text = error.what();
    failed = rank;
  }
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MIN, comm);
  if (failed == ranks) return;
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, failed, comm);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, failed, comm);
  throw std::runtime_error(text);
}

}  // namespace mini_app
