#include "endpoint.hpp"

#include <mpi.h>
#include <signal.h>

#include <iostream>

#include "sidestream/error.hpp"

namespace sidestream {

namespace {

// A signal handler has nothing else to write to.
volatile sig_atomic_t asked_to_leave = 0;

void leave(int) { asked_to_leave = 1; }

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = leave;
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) sigaction(signal, &action, nullptr);
}

}  // namespace

int endpoint(EndpointOptions options) {
  int provided = 0;
  // ADIOS2 has threads of its own, which do not call MPI.
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  catch_signals();  // after MPI, which may have set handlers of its own
  int rank = 0, status = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  options.stop = [] { return asked_to_leave != 0; };
  try {
    run_endpoint(MPI_COMM_WORLD, options);
  } catch (const std::exception& error) {
    // The same on all of them.
    if (rank == 0) std::cerr << "sidestream endpoint: " << error.what() << std::endl;
    status = 1;
  }
  MPI_Finalize();
  return status;
}

}  // namespace sidestream
