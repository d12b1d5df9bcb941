// Work of a server before its analyses if blocks, tasks and plan are unchanged since the last iteration.
//
//   mpirun -n 2 benchmark_assembly        (rank 0 is the client, rank 1 the server)
//
// Two variables on 1, 64 and 512 blocks of one value each, so that hardly any data move. With `cores` the server finds
// values in shared memory; with `nodes` the time includes fetching them. The time is that of `assemble` in timings.csv.
// The ratios come last: above 1 is better than required.
#include <mpi.h>
#include <sidestream/sidestream.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "measure.hpp"
#include "session.hpp"

namespace {

using namespace benchmark;

constexpr const char* directory = "assembly-results";
constexpr int iterations = 200, warm_up = 20;

int look(const sidestream_input*, void*, char*, void*) { return 0; }

std::string text_of(const std::string& mode) {
  return "placement: {mode: " + mode +
         "}\n"
         "meshes: {line: {type: uniform, size: [$cells]}}\n"
         "variables: {a: {mesh: line}, b: {mesh: line}}\n"
         "output: {directory: " +
         directory +
         ", existing: replace}\n"
         "analyses:\n  - look: {variables: [a, b]}\n";
}

void simulate(sidestream_session* session, std::int64_t blocks) {
  check(session, sidestream_set_int(session, "cells", blocks), "set_int");
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t lo[3] = {b, 0, 0}, hi[3] = {b + 1, 1, 1};
    check(session, sidestream_set_block(session, "line", b, lo, hi), "set_block");
  }
  check(session, sidestream_start(session), "start");
  const double value = 1;
  for (int n = 0; n < iterations; ++n) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      check(session, sidestream_publish(session, "a", b, &value), "publish");
      check(session, sidestream_publish(session, "b", b, &value), "publish");
    }
    end(session);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

/// Microseconds of each iteration's assembly, after the warm-up.
std::vector<double> assemblies() {
  std::ifstream file(std::string(directory) + "/timings.csv");
  std::vector<double> times;
  for (std::string row; std::getline(file, row);) {
    std::vector<std::string> cells;
    std::istringstream stream(row);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    if (cells.size() < 10 || cells[8] != "assemble" || std::stoi(cells[2]) < warm_up) continue;
    times.push_back(std::stod(cells[9]) * 1e6);
  }
  return times;
}

double measure(const std::string& mode, std::int64_t blocks) {
  sidestream_session* session = nullptr;
  check(nullptr, sidestream_open_text(MPI_COMM_WORLD, text_of(mode).c_str(), &session), "open");
  sidestream_function function{};
  function.struct_size = sizeof function;
  function.name = "look";
  function.local = look;
  check(session, sidestream_register_function(session, &function), "register_function");
  if (sidestream_is_server(session)) {
    check(session, sidestream_serve(session), "serve");
  } else {
    simulate(session, blocks);
  }
  check(nullptr, sidestream_close(&session), "close");
  return median(assemblies());
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::vector<std::int64_t> counts{1, 64, 512};
  std::vector<double> cores, nodes;
  for (const std::int64_t blocks : counts) {
    cores.push_back(measure("cores, per_node: 1", blocks));
    nodes.push_back(measure("nodes, servers: 1", blocks));
    if (rank > 0) continue;
    std::printf("assembly, 2 variables on %3lld blocks: cores %8.1f us, nodes with fetching %8.1f us\n",
                static_cast<long long>(blocks), cores.back(), nodes.back());
  }
  for (std::size_t n = 0; n < counts.size() && rank == 0; ++n) {
    std::printf("ratio 20 us / assembly, cores, %3lld blocks (wanted: at least 1) %.3f\n",
                static_cast<long long>(counts[n]), 20 / cores[n]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::filesystem::remove_all(directory);
  MPI_Finalize();
  return 0;
}
