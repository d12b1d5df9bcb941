// Cost of a projection of an octree on one core, for results on several levels: the sums of the leaves, and those of
// the result's positions, without its file, next to filling the two arrays of the result once. Processor times.
//
// benchmark_tree_projection [DEEPEST level = 9] [REPETITIONS = 3] [LEVEL of a result = 9 11 13] ...
// The ratios come last.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/mpi/communicator.hpp"
#include "measure.hpp"
#include "sphere_tree.hpp"
#include "support/fake_domain.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;

namespace {

/// Consumes data sets and drops them.
class Looked final : public Results {
 public:
  void add(const std::string&, const Table&) override {}
  void add(const std::string&, const Image&) override {}
  void add(const std::string&, const Surface&) override {}
  void add(const std::string&, const CellSet&) override {}
  void add(const std::string&, const DataSet& data) override { arrays += data.arrays.size(); }
  std::size_t arrays = 0;
};

struct Times {
  std::vector<double> local, combine, fill;
};

void measure(const benchmark::SphereTree& tree, int level, Times& times) {
  const AnalysisKind kind = projection_kind();
  const std::string yaml = "{variable: t, axis: z, pieces: false, level: " + std::to_string(level) + "}";
  const auto task = kind.create(testing::fake_settings(kind, yaml, tree.metadata()), tree.metadata());
  MpiCommunicator self(MPI_COMM_SELF);
  const LocalInput input = tree.input();
  std::vector<Bytes> partials(1);
  times.local.push_back(benchmark::processor_microseconds([&] { partials[0] = task->local(input); }));
  Looked results;
  times.combine.push_back(benchmark::processor_microseconds([&] {
    static_cast<void>(task->combine({{}, tree.metadata(), partials, 0, self, results, &input}));
  }));
  if (results.arrays == 0) std::printf("there is no result\n");
  const auto places = static_cast<std::size_t>(std::ldexp(1.0, 2 * level));
  times.fill.push_back(benchmark::processor_microseconds([&] {
    for (int n = 0; n < 2; ++n) {
      const std::vector<double> filled(places, 0.5);
      if (filled[places / 2] != 0.5) std::printf("not filled\n");
    }
  }));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int deepest = argc > 1 ? std::atoi(argv[1]) : 9, repetitions = argc > 2 ? std::atoi(argv[2]) : 3;
  std::vector<int> levels;
  for (int n = 3; n < argc; ++n) levels.push_back(std::atoi(argv[n]));
  if (levels.empty()) levels = {9, 11, 13};
  {
    const benchmark::SphereTree tree(deepest, 2);
    std::printf("%zu leaves on %d levels\n", tree.leaves().size(), deepest + 1);
    std::string ratios;
    for (const int level : levels) {
      Times times;
      for (int r = 0; r < repetitions; ++r) measure(tree, level, times);
      const double local = benchmark::median(times.local), combine = benchmark::median(times.combine),
                   fill = benchmark::median(times.fill);
      std::printf("level %2d: sums of leaves %8.0f ms, of places %8.0f ms; two arrays filled %8.0f ms\n", level,
                  local / 1000, combine / 1000, fill / 1000);
      char line[120];
      std::snprintf(line, sizeof line, "level %d: %.2f times filling its arrays, %.0f ns a leaf, %.1f ns a place\n",
                    level, (local + combine) / fill,
                    1000 * (local + combine) / static_cast<double>(tree.leaves().size()),
                    1000 * (local + combine) / std::ldexp(1.0, 2 * level));
      ratios += line;
    }
    std::fputs(ratios.c_str(), stdout);
  }
  MPI_Finalize();
  return 0;
}
