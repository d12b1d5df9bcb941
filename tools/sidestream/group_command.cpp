#include "commands.hpp"

#include <signal.h>

#include <exception>
#include <iostream>

namespace sidestream {

namespace {

// A signal handler may only write to a variable of this type.
volatile sig_atomic_t asked_to_leave = 0;

void leave(int) { asked_to_leave = 1; }

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = leave;
  // mpirun forwards SIGUSR1; on the other two it ends the job a second later.
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) sigaction(signal, &action, nullptr);
}

}  // namespace

int run_group(const char* command, const std::function<void(MPI_Comm group, const std::function<bool()>& stop)>& work) {
  int provided = 0;
  // Threads of Sidestream and of ADIOS2 do not call MPI.
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  catch_signals();  // after MPI, which may have set handlers of its own
  int rank = 0, status = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    work(MPI_COMM_WORLD, [] { return asked_to_leave != 0; });
  } catch (const std::exception& error) {
    if (rank == 0) std::cerr << "sidestream " << command << ": " << error.what() << std::endl;
    status = 1;
  }
  MPI_Finalize();
  return status;
}

}  // namespace sidestream
