#include "stop.hpp"

#include <csignal>
#include <initializer_list>

namespace universe {

namespace {

// A signal handler may only write to a variable of this type.
volatile std::sig_atomic_t caught = 0;

}  // namespace

void catch_signals() {
  for (const int signal : {SIGTERM, SIGUSR1}) std::signal(signal, [](int) { caught = 1; });
}

bool stop_asked(MPI_Comm comm) {
  int any = caught != 0 ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm);
  return any != 0;
}

}  // namespace universe
