// A simulation that is steered, with random delays on every rank: PROGRAM FILE [seed=N] [most=N] [pause_us=N]
// [together=N]
//
// Ranks read values, decide if they go on, and then meet in a collective operation. If they read different values it
// hangs until the run's time limit. Prints the values of rank 0, one line for each change, and an error if any rank
// read something else after any iteration.
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "program.hpp"

namespace {

struct Read {
  std::int64_t stop = 0;
  double interval = 0;
  bool operator==(const Read&) const = default;
};

void sleep_up_to(std::mt19937& random, long microseconds) {
  if (microseconds <= 0) return;
  const long pause = std::uniform_int_distribution<long>(0, microseconds)(random);
  std::this_thread::sleep_for(std::chrono::microseconds(pause));
}

/// True if all ranks read the same after each iteration. Collective.
bool compare(MPI_Comm comm, const std::vector<Read>& trace) {
  std::vector<Read> first = trace;
  std::int64_t count = static_cast<std::int64_t>(first.size());
  MPI_Bcast(&count, 1, MPI_INT64_T, 0, comm);
  first.resize(static_cast<std::size_t>(count));
  MPI_Bcast(first.data(), static_cast<int>(first.size() * sizeof(Read)), MPI_BYTE, 0, comm);
  int same = first == trace;
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_LAND, comm);
  return same != 0;
}

void simulate(sidestream::Session& session, const Options& options) {
  int rank = 0, size = 1;
  const MPI_Comm comm = session.comm();
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  session.set("n", std::int64_t{4 * size});
  session.set_block("grid", rank, sidestream::Box{{4 * rank, 0, 0}, {4 * rank + 4, 1, 1}});
  session.start();
  std::mt19937 random(static_cast<unsigned>(options.number("seed", 1) * 1000 + rank));
  const std::vector<double> values(4, rank);
  std::vector<Read> trace;
  const std::int64_t most = options.number("most", 100);
  const long pause = options.number("pause_us", 300);
  const long together = options.number("together", 0);
  std::int64_t stop = session.steered_integer("stop");
  for (std::int64_t n = 0; !stop && n < most; ++n) {
    sleep_up_to(random, rank == n / 8 % size ? 4 * pause : pause);  // the slow rank changes
    static_cast<void>(session.publish("t", rank, values));
    static_cast<void>(session.end_iteration(n, static_cast<double>(n)));
    stop = session.steered_integer("stop");
    trace.push_back({stop, session.steered_real("interval")});
    if (together > 0 && n % together == 0) {  // clients that skip must stay in step, or they refuse all
      MPI_Barrier(comm);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (trace.back().interval > 1e6) MPI_Barrier(comm);  // on all ranks or on none
  }
  if (!compare(comm, trace)) {
    std::printf("error 0: rank %d: ranks read different values\n", rank);
  }
  Read before{0, 0.5};
  for (std::size_t n = 0; rank == 0 && n < trace.size(); ++n) {
    if (trace[n] == before) continue;
    before = trace[n];
    std::printf("after %zu stop=%d interval=%.17g\n", n, static_cast<int>(before.stop), before.interval);
  }
  const sidestream::Account account = session.close();
  if (rank == 0) {
    std::printf("iterations=%d delivered=%d refused=%d\n", static_cast<int>(account.iterations),
                static_cast<int>(account.delivered), static_cast<int>(account.refused));
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run_in_turn(argc, argv, [](int count, char** arguments, MPI_Comm comm) {
    return run_session(
        Options(count, arguments), comm, [](sidestream::Session&) {}, simulate);
  });
  MPI_Finalize();
  return status;
}
