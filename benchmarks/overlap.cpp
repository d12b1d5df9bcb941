// Cost of a dedicated core for a simulation whose analyses take most of a step.
//
//   mpirun -n 2 --bind-to core benchmark_overlap [STEPS]        (rank 0 computes, rank 1 serves)
//
// A step sweeps an array of 32 MiB a fixed number of times and publishes it. Four kinds of steps take turns in blocks
// of ten, so that all see the same machine:
//   alone      the other core idles
//   streaming  the other core copies memory for 80 % of a step, as an analysis would read it, without Sidestream
//   analysed   the array is published; the server reads it over and over for 80 % of a step
//   written    the array is published; the server writes every eighth to a file (HDF5, flushed to disk), which it has
//   the
//              time to do: a disk that is slower than the simulation is another matter, see when_full
// The ratios come last: analysed to streaming is what Sidestream itself costs, analysed to alone what the user sees,
// and the spread of the publish times while files are written.
#include <mpi.h>
#include <sidestream/sidestream.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "measure.hpp"

namespace {

constexpr std::int64_t cells = 4 << 20;  // 32 MiB of float64
constexpr int turn = 10;
double step_seconds = 0;  // of an undisturbed step; measured first, sent to the server

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void check(sidestream_session* session, int code, const char* call) {
  if (code == SIDESTREAM_OK) return;
  std::fprintf(stderr, "%s: %s\n", call, sidestream_message(session));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// One step of a model simulation: eight sweeps of a stencil.
void compute(std::vector<double>& a, std::vector<double>& b) {
  for (int sweep = 0; sweep < 8; ++sweep) {
    for (std::int64_t i = 1; i + 1 < cells; ++i) b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1];
    std::swap(a, b);
  }
}

double total(const double* values, std::int64_t n) {
  double sums[4] = {0, 0, 0, 0};
  for (std::int64_t i = 0; i + 4 <= n; i += 4) {
    for (int s = 0; s < 4; ++s) sums[s] += values[i + s];
  }
  return sums[0] + sums[1] + sums[2] + sums[3];
}

/// Reads the block repeatedly for 80 % of a step.
int busy(const sidestream_input* input, void*, char*, void*) {
  sidestream_block block;
  block.struct_size = sizeof block;
  if (sidestream_input_block(input, "a", 0, &block)) return 1;
  const auto start = Clock::now();
  volatile double sink = 0;
  while (seconds_since(start) < 0.8 * step_seconds) sink = sink + total(static_cast<const double*>(block.data), cells);
  return 0;
}

struct Turn {
  std::vector<double> steps, publishes;
};

/// Runs `count` steps; with a session each is published.
void steps(int count, sidestream_session* session, std::vector<double>& a, std::vector<double>& b, std::int64_t& cycle,
           Turn& turn_times) {
  for (int s = 0; s < count; ++s) {
    const auto start = Clock::now();
    compute(a, b);
    if (session) {
      const auto before = Clock::now();
      check(session, sidestream_publish(session, "a", 0, a.data()), "publish");
      turn_times.publishes.push_back(seconds_since(before));
      check(session, sidestream_end_iteration(session, cycle, static_cast<double>(cycle)), "end_iteration");
      ++cycle;
    }
    turn_times.steps.push_back(seconds_since(start));
  }
}

/// Runs with Sidestream on both ranks; `task` is the server's work.
Turn published(const std::string& task, int count, std::vector<double>& a, std::vector<double>& b, bool server) {
  const std::string text =
      "placement: {mode: cores, per_node: 1, buffer: 256 MiB}\n"
      "meshes: {line: {type: uniform, size: [" +
      std::to_string(cells) +
      "]}}\n"
      "variables: {a: {mesh: line}}\n"
      "output: {directory: overlap-results, existing: replace, timings: false}\n" +
      task;
  sidestream_session* session = nullptr;
  check(nullptr, sidestream_open_text(MPI_COMM_WORLD, text.c_str(), &session), "open");
  sidestream_function function{};
  function.struct_size = sizeof function;
  function.name = "busy";
  function.local = busy;
  check(session, sidestream_register_function(session, &function), "register_function");
  Turn times;
  if (server) {
    check(session, sidestream_serve(session), "serve");
  } else {
    const std::int64_t lo[3] = {0, 0, 0}, hi[3] = {cells, 1, 1};
    check(session, sidestream_set_block(session, "line", 0, lo, hi), "set_block");
    check(session, sidestream_start(session), "start");
    std::int64_t cycle = 0;
    steps(count, session, a, b, cycle, times);
    times.steps.erase(times.steps.begin(), times.steps.begin() + 2);  // the first pass over the buffer
    times.publishes.erase(times.publishes.begin(), times.publishes.begin() + 2);
  }
  check(session, sidestream_close(&session), "close");
  return times;
}

/// Runs steps on rank 0 while rank 1 idles or streams memory.
Turn plain(bool streaming, int count, std::vector<double>& a, std::vector<double>& b, bool server) {
  MPI_Barrier(MPI_COMM_WORLD);
  Turn times;
  if (!server) {
    std::int64_t cycle = 0;
    steps(count, nullptr, a, b, cycle, times);
    int done = 1;
    MPI_Send(&done, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    return times;
  }
  int done = 0;
  volatile double sink = 0;
  while (!done) {
    const auto start = Clock::now();
    while (streaming && seconds_since(start) < 0.8 * step_seconds) sink = sink + total(a.data(), cells);
    const timespec rest{0, static_cast<long>((streaming ? 0.2 : 0.5) * step_seconds * 1e9)};
    nanosleep(&rest, nullptr);
    MPI_Iprobe(0, 0, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
  }
  MPI_Recv(&done, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return times;
}

void append(Turn& to, const Turn& from) {
  to.steps.insert(to.steps.end(), from.steps.begin(), from.steps.end());
  to.publishes.insert(to.publishes.end(), from.publishes.begin(), from.publishes.end());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    if (rank == 0) std::fprintf(stderr, "start this benchmark on 2 ranks: rank 0 computes, rank 1 serves\n");
    MPI_Finalize();
    return 2;
  }
  const bool server = rank == 1;
  const int turns = argc > 1 ? std::max(1, std::atoi(argv[1]) / turn) : 5;
  std::vector<double> a(cells, 1.0), b(cells, 1.0);
  Turn first = plain(false, 4, a, b, server);
  if (!server) step_seconds = benchmark::median(first.steps);
  MPI_Bcast(&step_seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  Turn alone, streaming, analysed, written;
  for (int t = 0; t < turns; ++t) {
    append(alone, plain(false, turn, a, b, server));
    append(streaming, plain(true, turn, a, b, server));
    append(analysed, published("analyses:\n  - busy: {variables: [a]}\n", turn + 2, a, b, server));
  }
  written = published("outputs:\n  - hdf5: {variables: [a], every: 8, file: \"w-{index:05}.h5\"}\n", 200, a, b, server);
  if (server) {
    std::filesystem::remove_all("overlap-results");
  } else {
    const double quiet = benchmark::median(alone.steps), beside = benchmark::median(streaming.steps);
    const double with = benchmark::median(analysed.steps);
    std::printf("step alone                        %8.2f ms\n", quiet * 1e3);
    std::printf("step beside a streaming core      %8.2f ms\n", beside * 1e3);
    std::printf("step published and analysed       %8.2f ms\n", with * 1e3);
    std::printf("publish of 32 MiB while writing   %8.2f ms median, %.2f ms largest of %zu\n",
                benchmark::median(written.publishes) * 1e3, benchmark::quantile(written.publishes, 1.0) * 1e3,
                written.publishes.size());
    std::printf("ratio analysed / streaming        %8.3f   (at most 1.05 wanted)\n", with / beside);
    std::printf("ratio analysed / alone            %8.3f\n", with / quiet);
    std::printf("ratio largest / median publish    %8.3f   (at most 3 wanted)\n",
                benchmark::quantile(written.publishes, 1.0) / benchmark::median(written.publishes));
  }
  MPI_Finalize();
  return 0;
}
