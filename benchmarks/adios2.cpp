// Cost of puts for a simulation that writes through ADIOS2, with servers in another process.
//
//   mpirun -n 1 benchmark_adios2 build/release/adios2/libsidestream-adios2.so [MiB of an array] &
//   sidestream serve --wait 10 adios2-benchmark.yaml
//
// A sync put is compared with memcpy of the array into pages that have been written before, and filling a span with
// filling memory of the program; all alternate. The ratios come last.
#include <adios2.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "measure.hpp"

namespace {

constexpr const char* file = "adios2-benchmark.yaml";

void write_configuration() {
  std::FILE* const out = std::fopen(file, "w");
  if (out == nullptr) return;
  std::fputs("placement: {mode: sidecar, session: benchmark-adios2, buffer: 1 GiB, attach_limit: 60}\n", out);
  std::fputs("output: {timings: false, existing: replace}\n", out);
  std::fclose(out);
}

/// Times of one step each, in microseconds.
struct Times {
  std::vector<double> copies, puts, fills, spans;
  void clear() { copies.clear(), puts.clear(), fills.clear(), spans.clear(); }
};

void fill(double* values, std::size_t count, int step) { std::fill_n(values, count, 0.5 * step); }

void run(const std::string& library, std::size_t count) {
  adios2::ADIOS adios(MPI_COMM_WORLD);
  adios2::IO io = adios.DeclareIO("benchmark");
  io.SetEngine("Plugin");
  io.SetParameters({{"PluginName", "Sidestream"}, {"PluginLibrary", library}, {"Configuration", file}});
  const auto put = io.DefineVariable<double>("put", {count}, {0}, {count});
  const auto lent = io.DefineVariable<double>("lent", {count}, {0}, {count});
  adios2::Engine engine = io.Open("benchmark", adios2::Mode::Write);
  std::vector<double> source(count), target(count), plain(count);
  Times times;
  for (int step = 0; step < 200; ++step) {
    fill(source.data(), count, step);
    engine.BeginStep();
    const auto copy = [&] {
      times.copies.push_back(benchmark::microseconds([&] { std::memcpy(target.data(), source.data(), 8 * count); }));
      times.fills.push_back(benchmark::microseconds([&] { fill(plain.data(), count, step); }));
    };
    if (step % 2) copy();
    times.puts.push_back(benchmark::microseconds([&] { engine.Put(put, source.data(), adios2::Mode::Sync); }));
    times.spans.push_back(benchmark::microseconds([&] { fill(engine.Put(lent).data(), count, step); }));
    if (step % 2 == 0) copy();
    engine.EndStep();
    if (step < 20) times.clear();  // the start, and pages that are written for the first time
  }
  engine.Close();
  const double copies = benchmark::median(times.copies), puts = benchmark::median(times.puts);
  const double fills = benchmark::median(times.fills), spans = benchmark::median(times.spans);
  std::printf("%zu MiB: put %.1f us, memcpy %.1f us; span %.1f us, filling %.1f us\n", count >> 17, puts, copies, spans,
              fills);
  std::printf("ratio put / memcpy      %.3f   (wanted: at most 1.05)\n", puts / copies);
  std::printf("ratio span / filling    %.3f   (wanted: at most 1.02)\n", spans / fills);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 2) {
    std::fprintf(stderr, "usage: benchmark_adios2 LIBRARY [MiB of an array]\n");
  } else {
    write_configuration();
    run(argv[1], static_cast<std::size_t>(argc > 2 ? std::max(1, std::atoi(argv[2])) : 16) << 17);
  }
  MPI_Finalize();
  return argc < 2 ? 1 : 0;
}
