// Gain of groups of servers if one task does not get faster with more servers.
//
//   mpirun -n 3 benchmark_groups [ITERATIONS] [MILLISECONDS]        (rank 0 publishes, ranks 1 and 2 serve)
//
// Two tasks take time asleep, so that three ranks do not need three cores. `serial` combines for MILLISECONDS on one
// server, while the other waits, like a transform with a serial part; `shared` reduces for as long in total, divided
// among the servers. Without groups an iteration takes 1.5 times as long as a task; with a server for each task as long
// as one task. The runs alternate. The delay of a result of `shared` comes next: from the end of its iteration, if
// `serial` runs in every fourth iteration and the simulation's iteration takes a fifth longer than a task. The ratio of
// throughputs comes last.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sidestream/extend/registry.hpp>
#include <sidestream/sidestream.hpp>
#include <string>
#include <thread>
#include <vector>

#include "measure.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int ranks = 3;

double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

/// Takes time without a processor.
void work(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// Times of the results on the server that combines.
struct Times {
  std::vector<double> at;
};

class Load final : public sidestream::Task {
 public:
  Load(bool serial, double seconds, Times* times) : serial_(serial), seconds_(seconds), times_(times) {}
  [[nodiscard]] sidestream::Selection selection() const override { return {{{0, 0}}}; }
  [[nodiscard]] sidestream::Bytes local(const sidestream::LocalInput& input) override {
    if (!serial_) work(seconds_ / input.servers);
    return {};
  }
  sidestream::Bytes combine(const sidestream::CombineInput& input) override {
    if (serial_ && input.communicator.rank() == 0) work(seconds_);
    std::int64_t nothing = 0;
    input.communicator.sum(std::span(&nothing, 1));
    if (!serial_) times_->at.push_back(now());
    return {};
  }

 private:
  bool serial_;
  double seconds_;
  Times* times_;
};

struct Measured {
  double iteration = 0;  ///< seconds, average
  double late = 0;       ///< seconds from the end of an iteration to the result of `shared`, median
};

/// Runs one session; `pace`: seconds that the simulation takes for an iteration; 0: as fast as possible.
Measured run(bool groups, int every, int iterations, double seconds, double pace) {
  const std::string text =
      std::string("placement: {mode: nodes, servers: 2") + (groups ? ", groups: {a: 1, b: 1}" : "") +
      "}\nmeshes: {line: {type: uniform, size: [4096]}}\nvariables: {a: {mesh: line}}\n"
      "output: {directory: groups-results, existing: replace, timings: false}\nanalyses:\n  - serial: {group: a, every: " +
      std::to_string(every) + "}\n  - shared: {group: b}\n";
  Times times;
  sidestream::Session session = sidestream::Session::open_text(MPI_COMM_WORLD, text);
  for (const bool serial : {true, false}) {
    session.registry().add(
        sidestream::AnalysisKind{serial ? "serial" : "shared",
                                 "Takes its time.",
                                 {},
                                 [serial, seconds, &times](const sidestream::Settings&, const sidestream::Metadata&) {
                                   return std::make_unique<Load>(serial, seconds, &times);
                                 }});
  }
  std::vector<double> ends(static_cast<std::size_t>(iterations));
  double begin = now();
  if (session.is_server()) {
    session.serve();
  } else {
    session.set_block("line", 0, {{0, 0, 0}, {4096, 1, 1}});
    session.start();
    const std::vector<double> values(4096, 1);
    begin = now();
    for (int n = 0; n < iterations; ++n) {
      session.publish("a", 0, values);
      session.end_iteration(n, n);
      ends[static_cast<std::size_t>(n)] = now();
      if (pace > 0) std::this_thread::sleep_for(std::chrono::duration<double>(begin + (n + 1) * pace - now()));
    }
  }
  session.close();
  Measured measured;
  measured.iteration = (now() - begin) / iterations;
  // The clocks of the ranks on one machine are the same.
  MPI_Bcast(ends.data(), iterations, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  std::vector<double> late;
  for (std::size_t n = 0; n < times.at.size(); ++n) late.push_back(times.at[n] - ends[n]);
  const double mine = late.empty() ? 0 : benchmark::median(late);
  MPI_Allreduce(&mine, &measured.late, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return measured;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, size = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (size != ranks) {
    if (rank == 0) std::fprintf(stderr, "start this benchmark on %d ranks: one publishes, two serve\n", ranks);
    MPI_Finalize();
    return 2;
  }
  const int iterations = argc > 1 ? std::max(1, std::atoi(argv[1])) : 40;
  const double seconds = (argc > 2 ? std::atof(argv[2]) : 20) / 1000;
  std::vector<double> one, two, late_one, late_two;
  for (int turn = 0; turn < 5; ++turn) {
    one.push_back(run(false, 1, iterations, seconds, 0).iteration);
    two.push_back(run(true, 1, iterations, seconds, 0).iteration);
    // In every fourth iteration: on average both keep up with this.
    const double pace = 1.2 * seconds;
    late_one.push_back(run(false, 4, iterations, seconds, pace).late);
    late_two.push_back(run(true, 4, iterations, seconds, pace).late);
  }
  if (rank == 0) {
    const double without = benchmark::median(one), with = benchmark::median(two);
    std::printf("each task                                  %8.2f ms\n", seconds * 1e3);
    std::printf("an iteration, one group of two servers     %8.2f ms\n", without * 1e3);
    std::printf("an iteration, two groups of one server     %8.2f ms\n", with * 1e3);
    std::printf("result of shared after, one group          %8.2f ms\n", benchmark::median(late_one) * 1e3);
    std::printf("result of shared after, two groups         %8.2f ms\n", benchmark::median(late_two) * 1e3);
    std::printf("ratio of throughputs, groups / one group   %8.2f   (1.5 at best)\n", without / with);
  }
  MPI_Finalize();
  return 0;
}
