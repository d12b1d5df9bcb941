// Cost of `execute` for a simulation that speaks Catalyst, with servers in another process.
//
//   mpirun -n 1 benchmark_catalyst build/release/catalyst/libcatalyst-sidestream.so [MiB of a field] &
//   sidestream serve --wait 10 catalyst-benchmark.yaml
//
// Six fields on a uniform mesh, in the nodes that the tests use. The servers' task needs three of them in every second
// iteration. There `execute` is compared with memcpy of the three into pages that have been written before; both
// alternate. The ratio comes last: what `execute` takes beyond 20 us, divided by the copies.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "interop/catalyst/stand_in.hpp"
#include "measure.hpp"

namespace {

/// The first part of what an implementation of Catalyst 2 exports.
struct Implementation {
  int version;
  int (*initialize)(const void*);
  int (*execute)(const void*);
  int (*finalize)(const void*);
};

constexpr std::int64_t side = 64;
constexpr std::size_t asked = 3, given = 6;  ///< fields
constexpr const char* file = "catalyst-benchmark.yaml";

const Implementation& load(const char* path) {
  void* const library = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
  const void* const found = library == nullptr ? nullptr : dlsym(library, "catalyst_api_impl");
  if (found == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  return *static_cast<const Implementation*>(found);
}

void describe(stand_in::Node& root, const std::vector<std::vector<double>>& fields, int step) {
  root.at("catalyst/state/timestep").set(std::int64_t{step});
  root.at("catalyst/state/time").set(0.1 * step);
  root.at("catalyst/channels/grid/type").set(std::string("mesh"));
  stand_in::Node& mesh = root.at("catalyst/channels/grid/data");
  const std::array<std::int64_t, 3> cells{side, side, static_cast<std::int64_t>(fields[0].size()) / (side * side)};
  mesh.at("coordsets/coords/type").set(std::string("uniform"));
  for (std::size_t a = 0; a < 3; ++a) mesh.at(std::string("coordsets/coords/dims/") + "ijk"[a]).set(cells[a] + 1);
  mesh.at("topologies/topo/type").set(std::string("uniform"));
  mesh.at("topologies/topo/coordset").set(std::string("coords"));
  for (std::size_t n = 0; n < fields.size(); ++n) {
    stand_in::Node& field = mesh.at("fields/f" + std::to_string(n));
    field.at("association").set(std::string("element"));
    field.at("topology").set(std::string("topo"));
    field.at("values").refer(stand_in::float64, fields[n].data(), static_cast<std::int64_t>(fields[n].size()));
  }
}

void write_configuration() {
  std::FILE* const out = std::fopen(file, "w");
  if (out == nullptr) return;
  std::fputs("placement: {mode: sidecar, session: benchmark-catalyst, buffer: 1 GiB, attach_limit: 60}\n", out);
  std::fputs("output: {timings: false, existing: replace}\n", out);
  std::fputs("analyses:\n  - probe: {variables: [f0, f1, f2], point: {at: [1.5, 1.5, 1.5]}, every: 2}\n", out);
  std::fclose(out);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 2) {
    std::fprintf(stderr, "usage: benchmark_catalyst LIBRARY [MiB of a field]\n");
    MPI_Finalize();
    return 1;
  }
  const std::size_t mib = argc > 2 ? static_cast<std::size_t>(std::max(1, std::atoi(argv[2]))) : 16;
  const std::size_t count = mib << 17;
  std::vector<std::vector<double>> fields(given, std::vector<double>(count, 1.0)), targets = fields;
  write_configuration();
  const Implementation& implementation = load(argv[1]);
  stand_in::Node parameters;
  parameters.at("catalyst/scripts/script0").set(std::string(file));
  if (implementation.initialize(&parameters) != 0) return 1;
  std::vector<double> copies, executions, idle;
  for (int step = 0; step < 200; ++step) {
    for (auto& field : fields) std::fill(field.begin(), field.end(), step);
    stand_in::Node root;
    describe(root, fields, step);
    const auto copy = [&] {
      copies.push_back(benchmark::microseconds([&] {
        for (std::size_t n = 0; n < asked; ++n) std::memcpy(targets[n].data(), fields[n].data(), 8 * count);
      }));
    };
    const bool due = step % 2 == 0, before = step % 4 == 0;
    if (due && before) copy();
    (due ? executions : idle).push_back(benchmark::microseconds([&] { implementation.execute(&root); }));
    if (due && !before) copy();
    if (step < 20) copies.clear(), executions.clear(), idle.clear();  // the start, and pages that are new
  }
  stand_in::Node none;
  implementation.finalize(&none);
  const double copied = benchmark::median(copies), executed = benchmark::median(executions);
  std::printf("%zu of %zu fields of %zu MiB: execute %.1f us, memcpy %.1f us\n", asked, given, mib, executed, copied);
  std::printf("without a task that is due   %.1f us   (wanted: at most 20)\n", benchmark::median(idle));
  std::printf("ratio (execute - 20 us) / memcpy   %.3f   (wanted: at most 1.05)\n", (executed - 20) / copied);
  MPI_Finalize();
  return 0;
}
