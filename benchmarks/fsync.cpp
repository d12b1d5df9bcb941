// Cost of waiting for the disk (`output.fsync`).
//
//   benchmark_fsync [DIRECTORY]        (one process; results are written there and removed; default: here)
//
// Iterations of 4 KiB, 1 MiB and 64 MiB are written as HDF5 with placement `inline`, one after the other with and
// without fsync, in two sessions at once. A plain write of as many bytes, with and without fsync, is measured with
// them. Medians; the ratios come last.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "measure.hpp"
#include "session.hpp"

namespace {

using namespace benchmark;

struct Times {
  std::vector<double> with, without, plain_with, plain_without;  ///< microseconds
};

sidestream_session* open(const std::string& directory, bool fsync, std::int64_t cells) {
  const std::string text =
      "placement: inline\nmeshes: {line: {type: uniform, size: [$cells]}}\n"
      "variables: {a: {mesh: line, type: float64, centering: cell}}\n"
      "output: {directory: '" +
      directory + "', timings: false, existing: replace, fsync: " + (fsync ? "true" : "false") +
      "}\noutputs:\n  - hdf5: {variables: [a]}\n";
  sidestream_session* session = nullptr;
  check(nullptr, sidestream_open_text(MPI_COMM_WORLD, text.c_str(), &session), "open");
  check(session, sidestream_set_int(session, "cells", cells), "set_int");
  const std::int64_t lo[3] = {0, 0, 0}, hi[3] = {cells, 1, 1};
  check(session, sidestream_set_block(session, "line", 0, lo, hi), "set_block");
  check(session, sidestream_start(session), "start");
  return session;
}

double publish(sidestream_session* session, const std::vector<double>& values, int step) {
  check(session, sidestream_publish(session, "a", 0, values.data()), "publish");
  return microseconds([&] { check(session, sidestream_end_iteration(session, step, step), "end_iteration"); });
}

double plain(const std::string& path, const std::vector<double>& values, bool sync) {
  return microseconds([&] {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const auto* at = reinterpret_cast<const char*>(values.data());
    for (std::size_t left = values.size() * sizeof(double); left > 0;) {
      const ssize_t written = ::write(file, at, left);
      if (written <= 0) std::perror("write"), std::exit(1);
      at += written;
      left -= static_cast<std::size_t>(written);
    }
    if (sync && ::fsync(file) != 0) std::perror("fsync");
    ::close(file);
  });
}

Times measure(const std::string& directory, std::size_t bytes, int steps) {
  std::vector<double> values(bytes / sizeof(double));
  const auto cells = static_cast<std::int64_t>(values.size());
  sidestream_session* safe = open(directory + "/safe", true, cells);
  sidestream_session* fast = open(directory + "/fast", false, cells);
  Times times;
  for (int step = 0; step < steps; ++step) {
    fill(values.data(), values.size(), step);
    const std::string name = directory + "/plain-" + std::to_string(step);
    times.without.push_back(publish(fast, values, step));
    times.plain_without.push_back(plain(name + "-fast", values, false));
    ::sync();  // earlier writes must not count
    times.with.push_back(publish(safe, values, step));
    times.plain_with.push_back(plain(name, values, true));
  }
  check(nullptr, sidestream_close(&safe), "close");
  check(nullptr, sidestream_close(&fast), "close");
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string directory = std::string(argc > 1 ? argv[1] : ".") + "/fsync-results";
  struct Size {
    const char* name;
    std::size_t bytes;
    int steps;
  };
  std::array<double, 3> ratios{}, plain_ratios{};
  std::size_t n = 0;
  std::printf("an iteration of   fsync: true   fsync: false   write, fsync   write alone\n");
  for (const Size& size : {Size{"4 KiB", 4096, 60}, {"1 MiB", 1 << 20, 40}, {"64 MiB", 64 << 20, 12}}) {
    std::filesystem::create_directories(directory);
    const Times times = measure(directory, size.bytes, size.steps);
    std::filesystem::remove_all(directory);
    const double with = median(times.with), without = median(times.without);
    const double plain_with = median(times.plain_with), plain_without = median(times.plain_without);
    std::printf("%-15s %11.2f ms %11.2f ms %11.2f ms %10.2f ms\n", size.name, with / 1e3, without / 1e3,
                plain_with / 1e3, plain_without / 1e3);
    ratios[n] = with / without;
    plain_ratios[n++] = (with - without) / (plain_with - plain_without);
  }
  std::printf("with fsync / without:                       %.1f, %.1f, %.1f\n", ratios[0], ratios[1], ratios[2]);
  std::printf("what fsync adds / what it adds to a write:  %.1f, %.1f, %.1f\n", plain_ratios[0], plain_ratios[1],
              plain_ratios[2]);
  MPI_Finalize();
  return 0;
}
