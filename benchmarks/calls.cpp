// Cost of single calls for a simulation with one dedicated core: small blocks, and ends of iterations.
//
//   mpirun -n 2 benchmark_calls        (rank 0 is the client, rank 1 the server; pin them to two cores)
//
// A call is *warm* if the last one was the same. It is *cold* if the simulation has worked on 16 MiB of its own memory
// in between, so that code, tables and the written slots have left the nearer caches. A wake-up is compared, in
// alternation, with a bare one of the same two processes: a futex in shared memory on which the server's process
// sleeps. The ratios come last: above 1 is better than required.
#include <linux/futex.h>
#include <mpi.h>
#include <sidestream/sidestream.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "measure.hpp"
#include "session.hpp"

namespace {

using namespace benchmark;

constexpr std::size_t small = 128;  ///< float64 values: 1 KiB

void line(const char* name, const std::vector<double>& samples) {
  std::printf("%-44s %8.2f us, 99th percentile %8.2f us\n", name, median(samples), quantile(samples, 0.99));
}

void ratio(const char* name, double wanted, double measured) {
  std::printf("ratio %-62s %.3f\n", name, wanted / measured);
}

void publish(sidestream_session* session, std::int64_t block, const double* values) {
  check(session, sidestream_publish(session, "a", block, values), "publish");
}

/// Calls in sequence, on a thousand blocks.
void warm(sidestream_session* session, std::int64_t blocks) {
  double values[small];
  std::vector<double> publications, allocations, commits, clears;
  for (int step = 0; step < 60; ++step) {
    fill(values, small, step);
    for (std::int64_t b = 0; b < blocks; ++b) {
      void* data = nullptr;
      if (step % 2) {
        publications.push_back(microseconds([&] { publish(session, b, values); }));
        continue;
      }
      allocations.push_back(microseconds([&] { check(session, sidestream_alloc(session, "a", b, &data), "alloc"); }));
      std::memcpy(data, values, sizeof values);
      commits.push_back(microseconds([&] { check(session, sidestream_commit(session, "a", b), "commit"); }));
    }
    end(session);
    for (std::int64_t b = 0; b < blocks && step % 2 == 0; ++b) {
      clears.push_back(microseconds([&] { check(session, sidestream_clear(session, "a", b), "clear"); }));
    }
    if (step == 1) publications.clear(), allocations.clear(), commits.clear(), clears.clear();
  }
  line("publish 1 KiB, warm", publications);
  line("alloc   1 KiB, warm", allocations);
  line("commit  1 KiB, warm", commits);
  line("clear   1 KiB, warm", clears);
}

/// One block per step, by name and by handle in alternation, followed each time by a bare copy of the same values.
/// Returns the medians of both publications.
std::pair<double, double> cold(sidestream_session* session) {
  sidestream_handle handle = 0;
  check(session, sidestream_get_handle(session, "a", 0, &handle), "get_handle");
  std::vector<double> values(small), others(4096 * small), named, handled, copies;
  for (int step = 0; step < 800; ++step) {
    fill(values.data(), small, step);
    compute(step);
    if (step % 2 == 0) {
      named.push_back(microseconds([&] { publish(session, 0, values.data()); }));
    } else {
      handled.push_back(microseconds(
          [&] { check(session, sidestream_publish_handle(session, handle, values.data()), "publish_handle"); }));
    }
    double* const to = others.data() + static_cast<std::size_t>(step) * small;
    copies.push_back(microseconds([&] { std::memcpy(to, values.data(), small * sizeof(double)); }));
    end(session);
  }
  line("publish 1 KiB, cold", named);
  line("publish 1 KiB, cold, by handle", handled);
  line("memcpy  1 KiB after it", copies);
  return {median(named), median(handled)};
}

/// The server sleeps after some idle milliseconds; while it runs the analysis of one iteration, the ends of the next
/// ones find it awake.
void ends_of_iterations(sidestream_session* session, std::vector<double>& woken, std::vector<double>& awake) {
  std::vector<double> values(small);
  for (int round = 0; round < 25; ++round) {
    publish(session, 0, values.data());
    woken.push_back(microseconds([&] { end(session); }));
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    for (int n = 0; n < 3; ++n) awake.push_back(microseconds([&] { end(session); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(12 + round % 7));  // irregular, so that no iteration is
                                                                             // expected
  }
}

/// Regular steps, which a server expects (`placement.poll`).
void regular_ends(sidestream_session* session, std::vector<double>& ends) {
  std::vector<double> values(small);
  auto next = std::chrono::steady_clock::now();
  for (int step = 0; step < 60; ++step) {
    next += std::chrono::milliseconds(20);
    while (std::chrono::steady_clock::now() < next) {
    }
    publish(session, 0, values.data());
    const double taken = microseconds([&] { end(session); });
    if (step >= 10) ends.push_back(taken);
  }
}

using Word = std::atomic<std::uint32_t>;

long futex(Word* word, int operation, std::uint32_t value, const timespec* limit) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(word), operation, value, limit, nullptr, 0);
}

/// Rank 1 sleeps, rank 0 wakes it: only a store and the system call.
void bare_wakes(Word* word, int rank, std::vector<double>& wakes) {
  constexpr int rounds = 25;
  constexpr timespec limit{1, 0};
  MPI_Barrier(MPI_COMM_WORLD);
  const std::uint32_t first = word->load();
  MPI_Barrier(MPI_COMM_WORLD);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    if (rank == 1) {
      while (word->load() == first + round) futex(word, FUTEX_WAIT, first + round, &limit);
      continue;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(12 + round % 7));
    wakes.push_back(microseconds([&] {
      word->fetch_add(1);
      futex(word, FUTEX_WAKE, 1, nullptr);
    }));
  }
}

/// A word that both ranks map.
Word* shared_word(int rank, MPI_Win& window) {
  void* base = nullptr;
  MPI_Win_allocate_shared(rank == 0 ? 4096 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  MPI_Aint size = 0;
  int unit = 0;
  MPI_Win_shared_query(window, 0, &size, &unit, &base);
  return new (base) Word;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (size != 2) {
    std::fprintf(stderr, "found %d ranks, expected 2, one client and one server: use mpirun -n 2\n", size);
    MPI_Finalize();
    return 1;
  }
  MPI_Win window;
  Word* const word = shared_word(rank, window);
  std::vector<double> woken, awake, bare, expected;
  std::pair<double, double> colds;
  with_session({false, false, 1000, small}, [&](sidestream_session* s) { warm(s, 1000); });
  with_session({false, false, 1, small}, [&](sidestream_session* s) { colds = cold(s); });
  for (int turn = 0; turn < 4; ++turn) {
    bare_wakes(word, rank, bare);
    with_session({false, true, 1, small}, [&](sidestream_session* s) { ends_of_iterations(s, woken, awake); });
  }
  with_session({false, false, 1, small}, [&](sidestream_session* s) { regular_ends(s, expected); });
  if (rank == 0) {
    line("end_iteration, the server awake", awake);
    line("end_iteration, the server expects it", expected);
    line("end_iteration that wakes the server", woken);
    line("bare wake-up", bare);
    ratio("2 us / cold publish of 1 KiB (wanted: at least 1)", 2, colds.first);
    ratio("2 us / cold publish of 1 KiB by handle (wanted: at least 1)", 2, colds.second);
    ratio("bare wake-up / end_iteration that wakes (wanted: 0.67)", median(bare), median(woken));
  }
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
