// What the main functions of the mini-apps have in common: MPI's start and end, messages, and the order in which a
// coupling is served, used and closed.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace mini_app {

/// Rank 0 of `comm` prints the text; no rank waits.
inline void say(MPI_Comm comm, std::FILE* where, const std::string& text) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) std::fputs(text.c_str(), where);
}

/// Calls `work()`, which returns the status of the process. What it throws is said by rank 0 of `comm`, after the
/// program's name; the status is then 1. For errors that all ranks have alike.
template <class Work>
int with_errors_said(MPI_Comm comm, const char* program, const Work& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    say(comm, stderr, std::string(program) + ": " + error.what() + "\n");
    return 1;
  }
}

/// Collective over MPI_COMM_WORLD, of which `coupling` was opened: servers serve, the other ranks call `simulate()`,
/// and all close the coupling in order, also if `simulate` throws. Prints what became of the steps unless `quiet`.
/// Returns the status of the process.
template <class Coupling, class Simulate>
int run_coupled(Coupling& coupling, const char* program, bool quiet, const Simulate& simulate) {
  // On a server that call lasts as long as the simulation runs elsewhere.
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

/// What the command line asks for: `run(options)`, or a message. Returns the status of the process.
template <class CommandLine, class Run>
int obey(const CommandLine& line, const Run& run) {
  if (line.options) return run(*line.options);
  say(MPI_COMM_WORLD, line.status == 0 ? stdout : stderr, line.message);
  return line.status;
}

/// All of main: `work(arguments)`, without the program's name, between the start and the end of MPI.
template <class Work>
int with_mpi(int argc, char** argv, const char* program, const Work& work) {
  int provided = 0;
  // With it a thread of Sidestream's moves data while a step is computed (placement nodes); less works too.
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const int status = with_errors_said(MPI_COMM_WORLD, program, [&] {
    return work(std::vector<std::string>{argv + 1, argv + argc});
  });
  MPI_Finalize();
  return status;
}

}  // namespace mini_app
