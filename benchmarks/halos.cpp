// Cost of halos and merge trees on one core: a density with halos on n^3 cells, periodic, one block. Prints medians of
// processor times, the memory beyond the field and, last, million cells per second next to a memcpy of the field.
//
// benchmark_halos [CELLS along each axis = 256] [REPETITIONS = 5] [FILE] writes the field to FILE, C order, for
// benchmarks/halos_scipy.py, which runs this and SciPy's `label`.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>

#include "cosmology/kinds.hpp"
#include "measure.hpp"
#include "support/fake_domain.hpp"
#include "support/hash_field.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// The field as one server sees it.
class Field {
 public:
  explicit Field(Index n) : n_(n), values_(static_cast<std::size_t>(n * n * n)) {
    const HashField hash(n);
    std::size_t at = 0;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        for (Index k = 0; k < n; ++k) values_[at++] = hash({i, j, k});
      }
    }
    const double h = 20.0 / static_cast<double>(n);
    const Box cells{{0, 0, 0}, {n, n, n}};
    metadata.meshes.push_back(
        {0, "grid", cells, 3, std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{h, h, h})});
    metadata.meshes[0].periodic = {true, true, true};
    Variable variable;
    variable.id = 0;
    variable.name = "a";
    variable.mesh = 0;
    variable.order = Order::row;
    metadata.variables.push_back(variable);
    BlockView view;
    view.block.cells = view.points = cells;
    view.owned = {cells};
    view.array = {values_.data(), Type::float64, MemorySpace::host, cells, 1, packed_strides(cells, 1, Order::row)};
    views_.push_back({view});
  }
  [[nodiscard]] std::size_t rows(const AnalysisKind& kind, const std::string& yaml, const std::string& file) const {
    const auto task = kind.create(fake_settings(kind, yaml, metadata), metadata);
    MpiCommunicator self(MPI_COMM_SELF);
    CapturedResults results;
    Bytes feedback;
    for (int pass = 0; pass < task->passes(); ++pass) {
      LocalInput input{{}, metadata, views_, pass, feedback};
      input.stays = true;  // as on servers that analyse their own blocks
      const std::vector<Bytes> partials{task->local(input)};
      feedback = task->combine({{}, metadata, partials, pass, self, results, &input});
    }
    return results.tables.at(file).rows();
  }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  [[nodiscard]] double cells() const {
    return static_cast<double>(n_) * static_cast<double>(n_) * static_cast<double>(n_);
  }
  Metadata metadata;

 private:
  Index n_;
  std::vector<double> values_;
  std::vector<std::vector<BlockView>> views_;
};

/// A line of /proc/self/status in bytes; 0 if it is missing.
double memory(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(what, 0) == 0) return 1024 * std::atof(line.c_str() + what.size() + 1);
  }
  return 0;
}

/// Peak memory of `work` beyond the memory before it.
double memory_of(const std::function<void()>& work) {
  std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
  const double before = memory("VmRSS");
  work();
  return memory("VmHWM") - before;
}

struct Measured {
  const char* name;
  std::function<std::size_t()> work;
  std::vector<double> times{};
  std::size_t rows = 0;
};

void run(const Field& field, int repetitions) {
  std::vector<double> copy(field.values().size());
  std::vector<Measured> all{
      {"memcpy",
       [&] {
         std::memcpy(copy.data(), field.values().data(), copy.size() * sizeof(double));
         return copy.size();
       }},
      {"halos, 8/20 means",
       [&] {
         return field.rows(halos_kind(), "{variable: a, boundary: 8, halo: 20, units: mean}", "halos-{index:05}.csv");
       }},
      {"halos, 8/20 absolute",
       [&] { return field.rows(halos_kind(), "{variable: a, boundary: 8, halo: 20}", "halos-{index:05}.csv"); }},
      {"merge tree", [&] { return field.rows(merge_tree_kind(), "{variable: a}", "merge-tree-{index:05}.csv"); }}};
  const double bytes = field.cells() * sizeof(double);
  std::vector<double> fields;
  for (int r = 0; r < repetitions; ++r) {
    for (Measured& one : all) {
      const auto timed = [&] {
        one.times.push_back(benchmark::processor_microseconds([&] { one.rows = one.work(); }));
      };
      const double needed = memory_of(timed);
      if (r == 0) fields.push_back(needed / bytes);
    }
  }
  for (std::size_t n = 0; n < all.size(); ++n) {
    std::printf("%-22s %9.1f ms  %8zu rows  %5.2f fields of memory\n", all[n].name,
                benchmark::median(all[n].times) / 1000, all[n].rows, fields[n]);
  }
  for (const Measured& one : all) {
    std::printf("%-22s %8.2f Mcells/s\n", one.name, field.cells() / benchmark::median(one.times));
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Field field(argc > 1 ? std::atoll(argv[1]) : 256);
    if (argc > 3) {
      std::ofstream(argv[3], std::ios::binary)
          .write(reinterpret_cast<const char*>(field.values().data()),
                 static_cast<std::streamsize>(field.values().size() * sizeof(double)));
    }
    run(field, argc > 2 ? std::atoi(argv[2]) : 5);
  }
  MPI_Finalize();
  return 0;
}
