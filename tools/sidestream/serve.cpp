#include "serve.hpp"

#include <mpi.h>
#include <signal.h>

#include <iostream>

#include "client/sidecar_group.hpp"
#include "sidestream/error.hpp"

namespace sidestream {

namespace {

// A signal handler has nothing else to write to.
volatile sig_atomic_t asked_to_leave = 0;

void leave(int) { asked_to_leave = 1; }

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = leave;
  // mpirun passes SIGUSR1 on, and answers the other two by ending the job a second later.
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) sigaction(signal, &action, nullptr);
}

}  // namespace

int serve(const ServeOptions& options) {
  MPI_Init(nullptr, nullptr);
  catch_signals();  // after MPI, which may have set handlers of its own
  int rank = 0, status = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    serve_sidecar(MPI_COMM_WORLD, {options.file, options.wait, options.directory, [] { return asked_to_leave != 0; }});
  } catch (const std::exception& error) {
    // The same on all of them.
    if (rank == 0) std::cerr << "sidestream serve: " << error.what() << std::endl;
    status = 1;
  }
  MPI_Finalize();
  return status;
}

}  // namespace sidestream
