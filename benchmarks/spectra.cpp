// Power spectra, distributions and Lyman-alpha of one server, next to their lower bounds.
//
// benchmark_spectra [CELLS along each axis = 256] [REPETITIONS = 5]
// Prints medians, and last: the whole power spectrum relative to only FFTW's transform of the same field (planned with
// measure and with estimate), distributions relative to a plain sum over the field, and million cells per second of
// optical depth, at several widths of lines. benchmarks/spectra_scipy.py runs it next to scipy.fft.
#include <fftw3.h>
#include <malloc.h>
#include <mpi.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <tuple>

#include "analysis/common/kinds.hpp"
#include "base/mpi/communicator.hpp"
#include "config/options/document.hpp"
#include "config/options/read_settings.hpp"
#include "cosmology/kinds.hpp"
#include "cosmology/spectra/lyman_alpha/optical_depth.hpp"
#include "measure.hpp"

using namespace sidestream;

namespace {

class NoResults final : public Results {
 public:
  void add(const std::string&, const Table&) override {}
  void add(const std::string&, const Image&) override {}
  void add(const std::string&, const Surface&) override {}
  void add(const std::string&, const CellSet&) override {}
  void add(const std::string&, const DataSet&) override {}
  /// As in pieces: they are not gathered.
  void add_parts(const std::string&, const DataSet&, Communicator&, Pieces) override {}
  using Results::add_parts;
};

/// One field on one server, as a block and as pencils.
struct Field {
  explicit Field(Index n) : values(static_cast<std::size_t>(n * n * n)) {
    std::mt19937_64 random(1);
    for (double& v : values) v = std::exp(2 * static_cast<double>(random() >> 11) * 0x1p-53);
    const Box cells{{0, 0, 0}, {n, n, n}};
    metadata.meshes.push_back(
        {0, "grid", cells, 3, std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{0.1, 0.1, 0.1})});
    Variable variable;
    variable.id = 0;
    variable.name = "a";
    variable.mesh = 0;
    metadata.variables.push_back(variable);
    BlockView view;
    view.block.cells = view.points = cells;
    view.owned = {cells};
    view.array.data = values.data();
    view.array.box = cells;
    view.array.strides = packed_strides(cells, 1, Order::column);
    blocks.push_back({view});
    // As many entries as the selection of any analysis has.
    for (int entry = 0; entry < 2; ++entry) entries.push_back({0, {&blocks[0]}});
  }

  std::vector<double> values;
  Metadata metadata;
  std::vector<std::vector<BlockView>> blocks;
  std::vector<EntryViews> entries;
};

/// Runs all passes of an analysis.
class Run {
 public:
  Run(const Field& field, const AnalysisKind& kind, const std::string& yaml) : field_(field) {
    const Parameters none;
    const Node node = parse_node(yaml, "benchmark");
    task_ = kind.create(
        read_settings(node, kind.options, kind.name, node.where, {ExpressionContext{none}, &field.metadata}),
        field.metadata);
  }
  void once() {
    NoResults results;
    Bytes feedback;
    for (int pass = 0; pass < task_->passes(); ++pass) {
      LocalInput input{{}, field_.metadata, field_.blocks, pass, feedback, nullptr, field_.entries};
      input.stays = true;
      const std::vector<Bytes> partials{task_->local(input)};
      feedback = task_->combine({{}, field_.metadata, partials, pass, servers_, results, &input});
    }
  }

 private:
  const Field& field_;
  MpiCommunicator servers_{MPI_COMM_SELF};
  std::unique_ptr<Task> task_;
};

double resident() {
  std::ofstream("/proc/self/clear_refs") << "5";
  std::ifstream statm("/proc/self/statm");
  double all = 0, pages = 0;
  statm >> all >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double peak() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib * 1024;
  }
  return 0;
}

/// FFTW's own transform of the field, with a plan of the given rigour.
class Fftw {
 public:
  Fftw(Field& field, Index n, unsigned rigour) {
    const std::vector<double> kept = field.values;
    out_ = fftw_alloc_complex(static_cast<std::size_t>(n * n * (n / 2 + 1)));
    const int side = static_cast<int>(n);
    plan_ = fftw_plan_dft_r2c_3d(side, side, side, field.values.data(), out_, rigour | FFTW_PRESERVE_INPUT);
    field.values = kept;
  }
  ~Fftw() {
    fftw_destroy_plan(plan_);
    fftw_free(out_);
  }
  Fftw(const Fftw&) = delete;
  Fftw& operator=(const Fftw&) = delete;
  void run() { fftw_execute(plan_); }

 private:
  fftw_complex* out_;
  fftw_plan plan_;
};

double plain_sum(const std::vector<double>& values) {
  double sums[16] = {};
  for (std::size_t i = 0; i + 16 <= values.size(); i += 16) {
    for (std::size_t l = 0; l < 16; ++l) sums[l] += values[i + l];
  }
  double sum = 0;
  for (const double s : sums) sum += s;
  return sum;
}

/// Million cells per second for lines of 512 cells with lines `width` cells wide.
double depth_rate(double width, int repetitions) {
  constexpr Index n = 512;
  const lyman_alpha::Cosmology cosmology{3, 0.3, 0.7, 0.7};
  const double step = cosmology.velocity(10) / n, doppler = width * step;
  const double kelvin = doppler * doppler * 1.672623e-24 / (2 * 1.38064e-16);
  std::vector<double> density(n, 1e-11), temperature, velocity, depth(n);
  std::mt19937_64 random(2);
  for (Index i = 0; i < n; ++i) {
    temperature.push_back(kelvin * (0.5 + static_cast<double>(random() >> 11) * 0x1p-53));
    velocity.push_back(1e7 * (static_cast<double>(random() >> 11) * 0x1p-53 - 0.5));
  }
  lyman_alpha::OpticalDepth lines(n, 10, cosmology);
  std::vector<double> times;
  constexpr int together = 200;
  for (int r = 0; r < repetitions; ++r) {
    times.push_back(benchmark::processor_microseconds([&] {
      for (int l = 0; l < together; ++l) lines.run(density.data(), temperature.data(), velocity.data(), depth.data());
    }));
  }
  return static_cast<double>(n * together) / benchmark::median(times);
}

/// Peak memory of an analysis besides the published data and its pieces, in units of one field.
void measure_memory(Field& field) {
  const double bytes = static_cast<double>(field.values.size() * sizeof(double));
  const std::string gas = "{hydrogen: a, temperature: a, redshift: 3, along: x";
  const std::vector<std::tuple<const char*, AnalysisKind, std::string>> all{
      {"histogram", histogram_kind(), "{variable: a, bins: 400, range: [1, 7.4]}"},
      {"histogram2d, weighted", histogram2d_kind(), "{x: {variable: a}, y: {variable: a}, weight: a}"},
      {"power_spectrum of lines", power_spectrum_kind(), "{variable: a, along: x}"},
      {"power_spectrum", power_spectrum_kind(), "{variable: a}"},
      {"power_spectrum of two", power_spectrum_kind(), "{variable: a, with: a}"},
      {"lyman_alpha", lyman_alpha_kind(), gas + ", pdf_file: p, spectrum_file: s}"},
      {"lyman_alpha, whole field", lyman_alpha_kind(), gas + ", field_spectrum_file: f}"},
      {"lyman_alpha, every 4th line", lyman_alpha_kind(), gas + ", lines: {every: 4}}"},
      {"lyman_alpha, all lines", lyman_alpha_kind(), gas + ", lines: {file: l.h5}}"}};
  for (const auto& [name, kind, yaml] : all) {
    Run run(field, kind, yaml);
    ::malloc_trim(0);  // memory freed by others would be reused unnoticed
    const double before = resident();
    run.once();
    std::printf("memory by the field, %-28s %5.2f\n", name, (peak() - before) / bytes);
  }
}

void measure(Index n, int repetitions) {
  Field field(n);
  measure_memory(field);  // before others keep memory that it would reuse
  Run shells(field, power_spectrum_kind(), "{variable: a}"),
      widening(field, power_spectrum_kind(), "{variable: a, bins: widening}");
  Run linear(field, histogram_kind(), "{variable: a, bins: 400, range: [1, 7.4]}");
  Run logarithmic(field, histogram_kind(), "{variable: a, bins: 400, range: [1e-2, 1e5], scale: logarithmic}");
  Fftw quick(field, n, FFTW_ESTIMATE), tried(field, n, FFTW_MEASURE);
  std::array<std::vector<double>, 7> times;
  volatile double kept = 0;
  for (int r = 0; r < repetitions; ++r) {
    std::size_t at = 0;
    const auto time = [&](auto&& work) { times[at++].push_back(benchmark::processor_microseconds(work)); };
    time([&] { quick.run(); });
    time([&] { tried.run(); });
    time([&] { shells.once(); });
    time([&] { widening.once(); });
    time([&] { kept = plain_sum(field.values); });
    time([&] { linear.once(); });
    time([&] { logarithmic.once(); });
  }
  static_cast<void>(kept);
  constexpr const char* names[] = {"FFTW r2c, estimate",       "FFTW r2c, measure", "power_spectrum, shells",
                                   "power_spectrum, widening", "sum of the field",  "histogram, linear",
                                   "histogram, logarithmic"};
  std::array<double, 7> median{};
  for (std::size_t t = 0; t < times.size(); ++t) {
    median[t] = benchmark::median(times[t]);
    std::printf("%-26s %9.1f ms\n", names[t], 1e-3 * median[t]);
  }
  std::printf("power spectrum by FFTW alone: %.2f (measure), %.2f (estimate); widening bins %.2f, %.2f\n",
              median[2] / median[1], median[2] / median[0], median[3] / median[1], median[3] / median[0]);
  std::printf("speed of distributions by that of reading: %.2f linear, %.2f logarithmic\n", median[4] / median[5],
              median[4] / median[6]);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Index n = argc > 1 ? std::atoi(argv[1]) : 256;
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 5;
  measure(n, repetitions);
  std::printf("optical depth, Mcells/s, of lines 0.3, 1, 2, 5 cells wide:");
  for (const double width : {0.3, 1.0, 2.0, 5.0}) std::printf(" %.0f", depth_rate(width, repetitions));
  std::printf("\n");
  MPI_Finalize();
  return 0;
}
