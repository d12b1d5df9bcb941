// Compositing of a picture on the ranks of this job, and a model of it for more ranks.
//
// mpirun -n N benchmark_compositing [PIXELS along each side = 1024] [REPETITIONS = 21]
// Each rank draws its brick of a cube, as a rank of a simulation would: bricks behind one another overlap. Prints, for
// direct send, for radix 2 and for the usual radix 8, the messages and bytes of the busiest rank, counted and by the
// model, and the median time. Ends with a failure if more messages are counted than the model has. Then the model, with
// stated costs of a network, for up to 100000 ranks. The last line is the ratio of the measured time of radix 2 to the
// model's, which is fed with costs measured here.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "measure.hpp"
#include "visualisation/graphics/compositing.hpp"

using namespace sidestream;
using namespace sidestream::rendering;

namespace {

/// Costs in seconds.
struct Costs {
  double hop;      ///< a step of a barrier
  double message;  ///< begin and end of a message
  double byte;     ///< sending a byte
  double sample;   ///< selecting and merging a sample
};

/// Collective calls of a round: three agreements on memory, a barrier, and the agreement that nobody has failed.
constexpr double calls_of_round = 5;

/// Assumed for large machines: 1.5 microseconds a hop, 2 a message, which tells its length first, 10 GB/s.
constexpr Costs network{1.5e-6, 2e-6, 1e-10, 0};

/// The work of the busiest rank.
struct Work {
  double rounds = 0, messages = 0, bytes = 0, samples = 0;
};

/// Bricks of a cube on n ranks.
struct Bricks {
  int count[3]{0, 0, 0};
  explicit Bricks(int ranks) { MPI_Dims_create(ranks, 3, count); }
  [[nodiscard]] double seen_share() const { return 1.0 / count[0] / count[1]; }
};

/// The share of its brick's pixels on which a rank draws.
constexpr double filled = 0.6;

Work work_of(int ranks, std::int64_t pixels, int radix) {
  const double all = static_cast<double>(pixels) * static_cast<double>(pixels);
  double held = filled * all * Bricks(ranks).seen_share(), divided = 1;
  Work work;
  const Stripes stripes(pixels, 1, ranks, radix);
  for (Members group{0, ranks}; group.count > 1; group = stripes.parts_of(group)[0]) {
    const auto parts = static_cast<double>(stripes.parts_of(group).size());
    work.rounds += 1;
    work.messages += parts - 1;
    work.bytes += held * (parts - 1) / parts * sizeof(Sample);
    work.samples += held;
    divided *= parts;
    held = std::min(held, all / divided);
  }
  return work;
}

double predicted(const Work& work, int ranks, const Costs& costs) {
  return work.rounds * calls_of_round * std::log2(std::max(ranks, 2)) * costs.hop + work.messages * costs.message +
         work.bytes * costs.byte + work.samples * costs.sample;
}

/// Rows of pixels that reach rank 0.
double gathering(int ranks, std::int64_t pixels, const Costs& costs) {
  const double all = static_cast<double>(pixels) * static_cast<double>(pixels);
  return std::log2(std::max(ranks, 2)) * costs.hop +
         std::min<double>(ranks, static_cast<double>(pixels)) * costs.message + 4 * all * costs.byte;
}

Bytes drawing_of(const Bricks& bricks, int rank, std::int64_t pixels) {
  const int i = rank / (bricks.count[1] * bricks.count[2]), j = rank / bricks.count[2] % bricks.count[1];
  const auto edge = [&](int brick, int count) { return pixels * brick / count; };
  Drawing drawing(pixels, 0, pixels, 1);
  for (std::int64_t y = edge(j, bricks.count[1]); y < edge(j + 1, bricks.count[1]); ++y) {
    const std::int64_t first = edge(i, bricks.count[0]), end = edge(i + 1, bricks.count[0]);
    const auto drawn = static_cast<std::int64_t>(filled * static_cast<double>(end - first));
    for (std::int64_t x = first; x < first + drawn; ++x) {
      drawing.opaque.row(y)[x] = make_sample(static_cast<std::uint32_t>(rank), 1, {10, 20, 30});
    }
  }
  return encode(drawing);
}

/// Counts what a member sends by `exchange`.
class Counting final : public Communicator {
 public:
  explicit Counting(Communicator& of) : of_(of) {}
  [[nodiscard]] int rank() const noexcept override { return of_.rank(); }
  [[nodiscard]] int size() const noexcept override { return of_.size(); }
  void barrier() override { of_.barrier(); }
  void sum(std::span<std::int64_t> values) override { of_.sum(values); }
  void minimum(std::span<std::int64_t> values) override { of_.minimum(values); }
  void minimum(std::span<double> values) override { of_.minimum(values); }
  void maximum(std::span<std::int64_t> values) override { of_.maximum(values); }
  void maximum(std::span<double> values) override { of_.maximum(values); }
  void bit_or(std::span<std::uint64_t> values) override { of_.bit_or(values); }
  [[nodiscard]] std::vector<Bytes> gather(BytesView mine, int root) override { return of_.gather(mine, root); }
  [[nodiscard]] std::vector<Bytes> all_gather(BytesView mine) override { return of_.all_gather(mine); }
  void broadcast(Bytes& data, int root) override { of_.broadcast(data, root); }
  [[nodiscard]] std::vector<Bytes> all_to_all(const std::vector<Bytes>& to) override { return of_.all_to_all(to); }
  [[nodiscard]] std::vector<MemberMessage> exchange(std::vector<MemberMessage> to) override {
    messages += static_cast<std::int64_t>(to.size());
    for (const MemberMessage& message : to) bytes += static_cast<std::int64_t>(message.bytes.size());
    return of_.exchange(std::move(to));
  }
  [[nodiscard]] std::int64_t exclusive_sum(std::int64_t value) override { return of_.exclusive_sum(value); }
  [[nodiscard]] std::unique_ptr<Communicator> split(int color) override { return of_.split(color); }
  [[nodiscard]] void* native() noexcept override { return of_.native(); }

  std::int64_t messages = 0, bytes = 0;

 private:
  Communicator& of_;
};

template <class F>
double median_time(Communicator& world, int repetitions, F&& f) {
  std::vector<double> times;
  for (int n = 0; n < repetitions; ++n) {
    world.barrier();
    const double start = MPI_Wtime();
    f();
    world.barrier();
    times.push_back(MPI_Wtime() - start);
  }
  return benchmark::median(times);
}

/// The costs on this machine, where ranks beyond the number of cores take turns.
Costs measured_costs(Communicator& world, int repetitions) {
  const int ranks = world.size(), partner = world.rank() ^ 1;
  const auto send = [&](std::size_t bytes) {
    return median_time(world, repetitions, [&] {
      std::vector<MemberMessage> to;
      if (partner < ranks) to.push_back({partner, Bytes(bytes)});
      static_cast<void>(world.exchange(std::move(to)));
    });
  };
  constexpr std::size_t large = 4 << 20;
  Costs costs{};
  costs.hop = median_time(world, repetitions, [&] { world.barrier(); }) / std::log2(std::max(ranks, 2));
  costs.message = std::max(0.0, send(1) - costs.hop * std::log2(std::max(ranks, 2)));
  costs.byte = (send(large) - send(1)) / large;
  const Bytes whole = drawing_of(Bricks(1), 0, 1024);
  MpiCommunicator self(MPI_COMM_SELF);
  const double samples = filled * 1024 * 1024;
  costs.sample = median_time(world, repetitions,
                             [&] {
                               static_cast<void>(composite({&whole, 1}, 1024, 1, Stripes(1024, 1, 1), self));
                             }) /
                 samples;
  return costs;
}

int run(std::int64_t pixels, int repetitions) {
  MpiCommunicator all(MPI_COMM_WORLD);
  Counting world(all);
  const int ranks = world.size();
  const bool prints = world.rank() == 0;
  const Bytes mine = drawing_of(Bricks(ranks), world.rank(), pixels);
  const Costs here = measured_costs(world, repetitions);
  double ratio = 1;  // of the last radix
  int status = 0;
  for (const int radix : {std::max(ranks, 2), Stripes::usual_radix, 2}) {
    const Stripes stripes(pixels, 1, ranks, radix);
    world.messages = world.bytes = 0;
    static_cast<void>(composite({&mine, 1}, pixels, 1, stripes, world));
    std::int64_t most[]{world.messages, world.bytes};
    world.maximum(most);
    const double time = median_time(world, repetitions, [&] {
      static_cast<void>(composite({&mine, 1}, pixels, 1, stripes, world));
    });
    const Work work = work_of(ranks, pixels, radix);
    const double expected = predicted(work, ranks, here);
    ratio = expected > 0 ? time / expected : 1;
    // A rank sends nothing to a part for which it has nothing.
    if (static_cast<double>(most[0]) > work.messages) status = 1;
    if (prints) {
      std::printf("radix %d: %d ranks, %lld messages (model: at most %.0f), %.2f MB (%.2f), %.2f ms (%.2f)\n", radix,
                  ranks, static_cast<long long>(most[0]), work.messages, static_cast<double>(most[1]) * 1e-6,
                  work.bytes * 1e-6, 1e3 * time, 1e3 * expected);
    }
  }
  Costs large = network;
  large.sample = here.sample;
  for (const int many : {16, 128, 1024, 10000, 100000}) {
    const Work direct = work_of(many, pixels, many), radix = work_of(many, pixels, Stripes::usual_radix);
    if (prints) {
      std::printf(
          "model for %6d ranks: direct send %8.3f ms, %6.0f messages a rank; radix-k %8.3f ms, %3.0f messages; "
          "gathering %.2f ms\n",
          many, 1e3 * predicted(direct, many, large), direct.messages, 1e3 * predicted(radix, many, large),
          radix.messages, 1e3 * gathering(many, pixels, large));
    }
  }
  if (prints) std::printf("measured / model: %.2f\n", ratio);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::int64_t pixels = argc > 1 ? std::atoll(argv[1]) : 1024;
  const int status = run(pixels, argc > 2 ? std::atoi(argv[2]) : 21);
  MPI_Finalize();
  return status;
}
