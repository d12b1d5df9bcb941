// Functions shared by the mini-apps' main functions: MPI's start and end, messages, and the order of serving, using and
// closing a coupling.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace mini_app {

/// Prints the text on rank 0 of `comm`; no rank waits.
inline void say(MPI_Comm comm, std::FILE* where, const std::string& text) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) std::fputs(text.c_str(), where);
}

/// Calls `work()`, which returns the exit status. If it throws, rank 0 of `comm` prints the message after the program's
/// name, and the status is 1. For errors that all ranks have alike.
template <class Work>
int with_errors_said(MPI_Comm comm, const char* program, const Work& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    say(comm, stderr, std::string(program) + ": " + error.what() + "\n");
    return 1;
  }
}

/// Collective over MPI_COMM_WORLD, on which `coupling` was opened. Servers serve, the other ranks call `simulate()`,
/// and all close the coupling in order, also if `simulate` throws. Prints the outcome of the steps unless `quiet`.
/// Returns the exit status.
template <class Coupling, class Simulate>
int run_coupled(Coupling& coupling, const char* program, bool quiet, const Simulate& simulate) {
  // On a server this call lasts as long as the simulation runs elsewhere.
  if (coupling.serve()) {
    coupling.close();
    return 0;
  }
  const MPI_Comm comm = coupling.comm();
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const int status = with_errors_said(comm, program, simulate);
  const std::string account = coupling.close();
  if (rank == 0 && !quiet && !account.empty()) std::printf("%s\n", account.c_str());
  return status;
}

/// Calls `run(options)`, or prints the message of the command line. Returns the exit status.
template <class CommandLine, class Run>
int obey(const CommandLine& line, const Run& run) {
  if (line.options) return run(*line.options);
  say(MPI_COMM_WORLD, line.status == 0 ? stdout : stderr, line.message);
  return line.status;
}

/// The body of main: `work(arguments)`, without the program's name, between the start and the end of MPI.
template <class Work>
int with_mpi(int argc, char** argv, const char* program, const Work& work) {
  int provided = 0;
  // Allows a thread of Sidestream to move data while a step is computed (placement nodes); lower levels work, too.
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const int status = with_errors_said(MPI_COMM_WORLD, program, [&] {
    return work(std::vector<std::string>{argv + 1, argv + argc});
  });
  MPI_Finalize();
  return status;
}

}  // namespace mini_app
