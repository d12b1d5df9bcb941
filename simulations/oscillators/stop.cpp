#include "stop.hpp"

#include <csignal>
#include <initializer_list>

namespace oscillators {

namespace {
// A signal handler may only write to a variable of this type.
volatile std::sig_atomic_t caught = 0;
}  // namespace

void catch_signals() {
  for (const int signal : {SIGTERM, SIGUSR1}) std::signal(signal, [](int) { caught = 1; });
}

Verdict agree(MPI_Comm comm, Verdict mine) {
  int verdict = static_cast<int>(mine == Verdict::go_on && caught != 0 ? Verdict::stop : mine);
  MPI_Allreduce(MPI_IN_PLACE, &verdict, 1, MPI_INT, MPI_MAX, comm);
  return static_cast<Verdict>(verdict);
}

}  // namespace oscillators
