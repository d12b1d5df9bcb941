// Cost of publishing for a simulation with one dedicated core.
//
//   mpirun -n 2 benchmark_publish        (rank 0 is the client, rank 1 the server; pin them to two cores)
//
// or with a separate server, which is started again for each of its sessions:
//
//   mpirun -n 1 benchmark_publish sidecar & while sidestream serve --wait 5 publish-sidecar.yaml; do :; done
//
// Publishing is compared with memcpy into pages that are mapped and have been written before, and publishing in place
// with filling such pages. Both alternate within one run, so that both see the same machine. Before each turn the array
// is written as by a simulation. The ratios come last: above 1 publishing is faster.
#include <mpi.h>
#include <sidestream/sidestream.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "measure.hpp"
#include "session.hpp"

namespace {

using namespace benchmark;

constexpr std::size_t kib = 1 << 10, mib = 1 << 20;

std::string size_text(std::size_t bytes) {
  return bytes < mib ? std::to_string(bytes / kib) + " KiB" : std::to_string(bytes / mib) + " MiB";
}

struct Ratio {
  std::string name;
  double value;
  double wanted;
};

int repetitions(std::size_t bytes) { return bytes >= 64 * mib ? 60 : 300; }

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
    if (step == 0) copies.clear(), publications.clear();  // the first turn is a warm-up for both
  }
  const double copy = median(copies), publication = median(publications);
  std::printf("publish %-8s %10.1f us, memcpy %10.1f us; 99th percentile %10.1f and %10.1f us\n",
              size_text(bytes).c_str(), publication, copy, quantile(publications, 0.99), quantile(copies, 0.99));
  ratios.push_back({"memcpy / publish, " + size_text(bytes), copy / publication, bytes < mib ? 0.9 : 0.95});
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
  std::printf("in place %-8s %9.1f us, plain memory %10.1f us\n", size_text(bytes).c_str(), median(publications),
              median(fills));
  ratios.push_back({"fill / alloc + fill + commit, " + size_text(bytes), median(fills) / median(publications), 0.98});
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
  for (const std::size_t bytes : {64 * kib, 1 * mib, 16 * mib, 64 * mib}) {
    const Setting setting{sidecar, false, 1, static_cast<std::int64_t>(bytes / sizeof(double))};
    with_session(setting, [&](sidestream_session* s) { publish_by_copy(s, bytes, ratios); });
    with_session(setting, [&](sidestream_session* s) { publish_in_place(s, bytes, ratios); });
  }
  std::fflush(stdout);
  for (const Ratio& ratio : ratios) {
    std::printf("ratio %-36s %.3f   (wanted: at least %.2f)\n", ratio.name.c_str(), ratio.value, ratio.wanted);
  }
  MPI_Finalize();
  return 0;
}
