// What publishing costs a simulation with one dedicated core.
//
//   mpirun -n 2 benchmark_publish        (rank 0 is the client, rank 1 the server; pin them to two cores)
//
// or with a server of its own, which is started again for each of its sessions:
//
//   mpirun -n 1 benchmark_publish sidecar & while sidestream serve --wait 5 publish-sidecar.yaml; do :; done
//
// Publishing is compared with memcpy into pages that are mapped and have been written before, and publishing
// in place with filling such pages; both within the same run, turn by turn, so that both see the same
// machine. Before each turn the array is written as a simulation would have done. The ratios come last: above
// 1 publishing is the faster one.
#include <mpi.h>
#include <sidestream/sidestream.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "measure.hpp"

namespace {

using benchmark::median;
using benchmark::microseconds;
using benchmark::quantile;

constexpr std::size_t mib = 1 << 20;

void check(sidestream_session* session, int code, const char* call) {
  if (code == SIDESTREAM_OK) return;
  std::fprintf(stderr, "%s: %s\n", call, sidestream_message(session));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Keeps the server busy for some time, so that the client finds it awake.
int spin(const sidestream_input*, void*, char*, void*) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
  while (std::chrono::steady_clock::now() < end) {
  }
  return 0;
}

/// The configuration of a session; with `sidecar` the server reads it from a file, without the analysis, which is a
/// function of this program.
std::string configuration(bool sidecar, bool busy) {
  std::string text = sidecar ? "placement: {mode: sidecar, session: benchmark-publish, buffer: 768 MiB}\n"
                             : "placement: {mode: cores, per_node: 1, buffer: 768 MiB, when_full: wait}\n";
  text +=
      "meshes: {line: {type: uniform, size: [$cells]}}\n"
      "variables: {a: {mesh: line, type: float64, centering: cell}}\n"
      "output: {timings: false, existing: replace}\n";
  if (sidecar) {
    std::FILE* file = std::fopen("publish-sidecar.yaml", "w");
    if (file) std::fputs(text.c_str(), file), std::fclose(file);
  }
  return busy ? text + "analyses:\n  - spin: {variables: [a]}\n" : text;
}

/// Opens a session with `blocks` blocks of `cells` float64 each, runs `client` on the client and serves on
/// the server.
template <class Client>
void with_session(bool sidecar, std::int64_t blocks, std::int64_t cells, bool busy, Client&& client) {
  const std::string text = configuration(sidecar, busy);
  sidestream_session* session = nullptr;
  check(nullptr, sidestream_open_text(MPI_COMM_WORLD, text.c_str(), &session), "open");
  const sidestream_function function{sizeof function, "spin", 0, spin, nullptr, nullptr};
  if (busy) check(session, sidestream_register_function(session, &function), "register_function");
  if (sidestream_is_server(session)) {
    check(session, sidestream_serve(session), "serve");
  } else {
    check(session, sidestream_set_int(session, "cells", blocks * cells), "set_int");
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t lo[3] = {b * cells, 0, 0}, hi[3] = {(b + 1) * cells, 1, 1};
      check(session, sidestream_set_block(session, "line", b, lo, hi), "set_block");
    }
    check(session, sidestream_start(session), "start");
    client(session);
  }
  check(nullptr, sidestream_close(&session), "close");
}

void end(sidestream_session* session) { check(session, sidestream_end_iteration(session, 0, 0), "end_iteration"); }

void pause_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

/// Writes every element, as a simulation does; the value changes with `step`.
void fill(double* values, std::size_t count, int step) {
  for (std::size_t n = 0; n < count; ++n) values[n] = static_cast<double>(n) * 1e-3 + step;
}

/// The rest of the simulation's step: works on other arrays, so that no turn finds its target in the cache
/// only because it was the last to use it, and takes as long as a short step does.
void compute(int step) {
  static std::vector<double> others(16 * mib / sizeof(double));
  fill(others.data(), others.size(), step);
}

struct Ratio {
  std::string name;
  double value;
  double wanted;
};

int repetitions(std::size_t bytes) { return bytes >= 64 * mib ? 60 : 200; }

void publish_by_copy(sidestream_session* session, std::size_t bytes, std::vector<Ratio>& ratios) {
  const std::size_t count = bytes / sizeof(double);
  std::vector<double> array(count), target(count);
  std::vector<double> copies, publications, ends;
  for (int step = 0; step < repetitions(bytes); ++step) {
    const auto copy = [&] {
      compute(step);
      fill(array.data(), count, step);
      copies.push_back(microseconds([&] { std::memcpy(target.data(), array.data(), bytes); }));
    };
    if (step % 2) copy();
    compute(step);
    fill(array.data(), count, step);
    publications.push_back(
        microseconds([&] { check(session, sidestream_publish(session, "a", 0, array.data()), "publish"); }));
    if (step % 2 == 0) copy();
    ends.push_back(microseconds([&] { end(session); }));
    if (step == 0) copies.clear(), publications.clear();  // the first is a warm-up for both
  }
  const double copy = median(copies), publication = median(publications);
  std::printf("publish %3zu MiB      %10.1f us, memcpy %10.1f us; 99th percentile %10.1f and %10.1f us\n", bytes / mib,
              publication, copy, quantile(publications, 0.99), quantile(copies, 0.99));
  ratios.push_back({"memcpy / publish, " + std::to_string(bytes / mib) + " MiB", copy / publication, 0.95});
}

void publish_in_place(sidestream_session* session, std::size_t bytes, std::vector<Ratio>& ratios) {
  const std::size_t count = bytes / sizeof(double);
  std::vector<double> plain(count);
  std::vector<double> fills, publications;
  for (int step = 0; step < repetitions(bytes); ++step) {
    const auto fill_plain = [&] {
      compute(step);
      fills.push_back(microseconds([&] { fill(plain.data(), count, step); }));
    };
    if (step % 2) fill_plain();
    compute(step);
    publications.push_back(microseconds([&] {
      void* data = nullptr;
      check(session, sidestream_alloc(session, "a", 0, &data), "alloc");
      fill(static_cast<double*>(data), count, step);
      check(session, sidestream_commit(session, "a", 0), "commit");
    }));
    if (step % 2 == 0) fill_plain();
    end(session);
    check(session, sidestream_clear(session, "a", 0), "clear");
    if (step == 0) fills.clear(), publications.clear();
  }
  std::printf("in place %3zu MiB     %10.1f us, plain memory %10.1f us\n", bytes / mib, median(publications),
              median(fills));
  ratios.push_back({"fill / alloc + fill + commit, " + std::to_string(bytes / mib) + " MiB",
                    median(fills) / median(publications), 0.98});
}

void small_blocks(sidestream_session* session, std::int64_t blocks) {
  double values[128];
  std::vector<double> publications, allocations, commits, clears;
  for (int step = 0; step < 60; ++step) {
    fill(values, 128, step);
    for (std::int64_t b = 0; b < blocks; ++b) {
      void* data = nullptr;
      if (step % 2) {
        publications.push_back(
            microseconds([&] { check(session, sidestream_publish(session, "a", b, values), "publish"); }));
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
  const auto line = [](const char* name, const std::vector<double>& samples, const char* wanted) {
    std::printf("%-20s %10.2f us, 99th percentile %10.2f us%s\n", name, median(samples), quantile(samples, 0.99),
                wanted);
  };
  line("publish   1 KiB", publications, "   (wanted: 0.8 and 10)");
  line("alloc     1 KiB", allocations, "");
  line("commit    1 KiB", commits, "   (wanted: 0.5)");
  line("clear     1 KiB", clears, "");
}

/// The server sleeps when it has been idle for some milliseconds; while it runs the analysis of one
/// iteration, the ends of the next ones find it awake.
void ends_of_iterations(sidestream_session* session) {
  std::vector<double> values(128), woken, awake;
  for (int round = 0; round < 100; ++round) {
    check(session, sidestream_publish(session, "a", 0, values.data()), "publish");
    woken.push_back(microseconds([&] { end(session); }));
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    for (int n = 0; n < 3; ++n) awake.push_back(microseconds([&] { end(session); }));
    pause_ms(15);
  }
  std::printf("end_iteration        %10.2f us, 99th percentile %10.2f us   (server awake; wanted: 2)\n", median(awake),
              quantile(awake, 0.99));
  std::printf("  and wakes          %10.2f us, 99th percentile %10.2f us\n", median(woken), quantile(woken, 0.99));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const bool sidecar = argc > 1 && std::string(argv[1]) == "sidecar";
  if (size != (sidecar ? 1 : 2)) {
    std::fprintf(stderr, "found %d ranks, expected %s\n", size,
                 sidecar ? "1, the client" : "2, one client and one server: use mpirun -n 2");
    MPI_Finalize();
    return 1;
  }
  std::vector<Ratio> ratios;
  for (const std::size_t bytes : {1 * mib, 16 * mib, 64 * mib}) {
    const auto cells = static_cast<std::int64_t>(bytes / sizeof(double));
    with_session(sidecar, 1, cells, false, [&](sidestream_session* s) { publish_by_copy(s, bytes, ratios); });
    with_session(sidecar, 1, cells, false, [&](sidestream_session* s) { publish_in_place(s, bytes, ratios); });
  }
  with_session(sidecar, 1000, 128, false, [&](sidestream_session* s) { small_blocks(s, 1000); });
  // A server of its own has no function of this program to be kept awake with.
  if (!sidecar) with_session(sidecar, 1, 128, true, [&](sidestream_session* s) { ends_of_iterations(s); });
  std::fflush(stdout);
  for (const Ratio& ratio : ratios) {
    std::printf("ratio %-36s %.3f   (wanted: at least %.2f)\n", ratio.name.c_str(), ratio.value, ratio.wanted);
  }
  MPI_Finalize();
  return 0;
}
