// Cost of writing HDF5 files, as it is and with the library that publishes what is written.
//
//   benchmark_hdf5_writes [MiB of an array]                      without the library; leaves both files of settings
//   sidestream serve --wait 10 hdf5-benchmark.yaml &
//   LD_PRELOAD=build/release/hdf5/libsidestream-hdf5.so SIDESTREAM_HDF5_MAP=hdf5-benchmark-map.yaml
//     SIDESTREAM_CONFIG=hdf5-benchmark.yaml SIDESTREAM_HDF5_WRITE=both|only benchmark_hdf5_writes [MiB]
//
// Each step makes a file with one array. Processor time of a step is compared with that of memcpy of the array into
// pages that have been written before, in turn. The ratio comes last. The first steps, in which the session opens, do
// not count.
#include <hdf5.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "measure.hpp"

namespace {

/// The configuration, and the mapping.
void write_configuration() {
  std::FILE* const out = std::fopen("hdf5-benchmark.yaml", "w");
  if (out == nullptr) return;
  std::fputs("placement: {mode: sidecar, session: benchmark-hdf5, buffer: 1 GiB, attach_limit: 60}\n", out);
  std::fputs("output: {timings: false, existing: replace}\n", out);
  std::fclose(out);
  std::FILE* const map = std::fopen("hdf5-benchmark-map.yaml", "w");
  if (map == nullptr) return;
  std::fputs("files: {pattern: benchmark.h5}\narrays: {/array: {mesh: grid}}\n", map);
  std::fclose(map);
}

void write_file(const std::vector<double>& values) {
  const hsize_t count = values.size();
  const hid_t file = H5Fcreate("benchmark.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t set = H5Dcreate2(file, "array", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) std::puts("no write");
  H5Dclose(set);
  H5Sclose(space);
  H5Fclose(file);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t mebibytes = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 16;
  write_configuration();
  std::vector<double> source(mebibytes << 17, 1.5), target(source);
  std::vector<double> copies, steps;
  for (int step = 0; step < 60; ++step) {
    const double copy = benchmark::processor_microseconds(
        [&] { std::memcpy(target.data(), source.data(), source.size() * sizeof(double)); });
    const double whole = benchmark::processor_microseconds([&] { write_file(source); });
    source[0] += target[0];
    if (step < 10) continue;
    copies.push_back(copy);
    steps.push_back(whole);
  }
  std::remove("benchmark.h5");
  const double copy = benchmark::quantile(copies, 0.5), whole = benchmark::quantile(steps, 0.5);
  std::printf("memcpy %.0f us, step %.0f us of processor time (medians)\nstep / memcpy %.2f\n", copy, whole,
              whole / copy);
  return 0;
}
