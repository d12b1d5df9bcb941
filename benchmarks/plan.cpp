// Cost of planning: seconds and peak memory of every partitioner and of Needs, for 2^20 blocks and 10^5 servers, and
// growth from 10^3 to 10^6 blocks. Run as one process: benchmark_plan [BLOCKS] [SERVERS]
//
// Each measurement runs in a child process, whose peak memory then only includes this measurement and its blocks.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <string>

#include "config/options/document.hpp"
#include "config/options/read_settings.hpp"
#include "measure.hpp"
#include "partition/kinds.hpp"
#include "sidestream/data/catalogue.hpp"

namespace {

using namespace sidestream;

/// Result that a child sends through a pipe.
struct Sample {
  double seconds = 0;
  double megabytes = 0;  ///< peak resident memory
};

/// Runs `work`, which returns seconds, in a child.
Sample in_child(const std::function<double()>& work) {
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  const pid_t child = fork();
  if (child == 0) {
    Sample sample{work(), 0};
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    sample.megabytes = static_cast<double>(usage.ru_maxrss) / 1024;
    _exit(write(ends[1], &sample, sizeof sample) == sizeof sample ? 0 : 1);
  }
  close(ends[1]);
  Sample sample;
  const bool complete = read(ends[0], &sample, sizeof sample) == sizeof sample;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!complete || status != 0) {
    fmt::print(stderr, "a measurement failed\n");
    std::exit(1);
  }
  return sample;
}

/// A cube of about `count` blocks of 64^3 cells; sizes, costs and nearest servers vary.
struct World {
  explicit World(std::int64_t count) {
    Index3 n{1, 1, 1};
    for (int a = 0; n[0] * n[1] * n[2] < count; a = (a + 1) % 3) n[static_cast<std::size_t>(a)] *= 2;
    n[2] = (count + n[0] * n[1] - 1) / (n[0] * n[1]);
    Mesh mesh;
    mesh.id = 0;
    mesh.name = "grid";
    for (int a = 0; a < 3; ++a) mesh.cells.hi[a] = 64 * n[a];
    mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
    metadata.meshes.push_back(mesh);
    Variable variable;
    variable.id = variable.mesh = 0;
    variable.name = "a";
    metadata.variables.push_back(variable);
    std::mt19937 random(1);
    blocks.reserve(static_cast<std::size_t>(count));
    for (std::int64_t b = 0; b < count; ++b) {
      PlannedBlock planned;
      const Index3 at{b % n[0], b / n[0] % n[1], b / n[0] / n[1]};
      planned.block.id = b;
      planned.block.client = static_cast<std::int32_t>(b);
      for (int a = 0; a < 3; ++a) {
        planned.block.cells.lo[a] = 64 * at[a];
        planned.block.cells.hi[a] = 64 * at[a] + 64;
      }
      planned.bytes = 64 * 64 * 64 * 8 + random() % 4096;
      planned.cost = static_cast<double>(random() % 100) * 1e-3;
      planned.near = b % 10 ? static_cast<std::int32_t>(b % 1000) : -1;
      blocks.push_back(planned);
    }
  }
  Metadata metadata;
  std::vector<PlannedBlock> blocks;
};

Settings settings_for(const std::vector<Option>& options, const std::string& yaml, const Metadata& metadata) {
  const Parameters none;
  return read_settings(parse_node(yaml, ""), options, "the partitioner", {}, {ExpressionContext{none}, &metadata});
}

double plan_seconds(const PartitionerKind& kind, const std::string& yaml, std::int64_t count, int servers, int server) {
  const World world(count);
  const Settings settings = settings_for(kind.options, yaml, world.metadata);
  return 1e-6 * benchmark::microseconds([&] {
           const Plan plan = kind.plan({world.metadata, world.blocks, servers, server}, settings);
           if (plan.pieces.empty() && server < 0) std::exit(1);
         });
}

/// Ranges of a smooth field, so that some surfaces pass.
std::vector<BlockRange> ranges_of(const std::vector<Block>& blocks) {
  std::vector<BlockRange> ranges;
  ranges.reserve(blocks.size());
  for (const Block& block : blocks) {
    BlockRange range;
    range.block = block.id;
    range.variable = 0;
    const double middle = std::sin(0.01 * static_cast<double>(block.cells.lo[0] + 2 * block.cells.lo[1]));
    range.all = {middle - 0.1, middle + 0.1};
    range.lowest.fill({middle - 0.1, middle + 0.05});
    ranges.push_back(range);
  }
  return ranges;
}

double needs_seconds(const Part& part, std::int64_t count) {
  World world(count);
  std::vector<Block> blocks;
  blocks.reserve(world.blocks.size());
  for (const PlannedBlock& block : world.blocks) blocks.push_back(block.block);
  world.blocks = {};
  const auto ranges = part.kind == Part::Kind::values ? ranges_of(blocks) : std::vector<BlockRange>{};
  return 1e-6 * benchmark::microseconds([&] {
           const auto needed = Needs(world.metadata, blocks, ranges).of({0, 0, part});
           if (std::count(needed.begin(), needed.end(), true) == 0) std::exit(1);
         });
}

/// A map file for `mapped`, removed with the object.
struct MapFile {
  MapFile(std::int64_t count, int servers) {
    std::ofstream file(path);
    for (std::int64_t b = 0; b < count; ++b) file << "grid " << b << ' ' << b * 7 % servers << '\n';
  }
  ~MapFile() { unlink(path.c_str()); }
  std::string path = fmt::format("/tmp/sidestream_plan_{}.txt", getpid());
};

struct Case {
  std::string name;
  std::function<double(std::int64_t blocks, int servers)> seconds;
};

std::vector<Case> cases(const std::string& map) {
  const auto whole = [](PartitionerKind kind, const std::string& yaml, int server = -1) {
    return [kind, yaml, server](std::int64_t blocks, int servers) {
      return plan_seconds(kind, yaml, blocks, servers, server < 0 ? -1 : server % servers);
    };
  };
  const auto needs = [](Part part) { return [part](std::int64_t blocks, int) { return needs_seconds(part, blocks); }; };
  const std::string isosurface = "{variable: a, values: 1}", slice = "{origin: [1, 1, 1], normal: [1, 2, 3]}";
  return {{"block", whole(block_partitioner(), "{}")},
          {"stripe", whole(stripe_partitioner(), "{width: 4}")},
          {"mapped (file)", whole(mapped_partitioner(), "{file: " + map + "}")},
          {"slice", whole(slice_partitioner(), slice)},
          {"isosurface", whole(isosurface_partitioner(), isosurface)},
          {"balanced by bytes", whole(balanced_partitioner(), "{}")},
          {"balanced by cost", whole(balanced_partitioner(), "{by: cost}")},
          {"local", whole(local_partitioner(), "{}")},
          {"replicated, 2 copies", whole(replicated_partitioner(), "{}")},
          {"regrid slabs, server 0", whole(regrid_partitioner(), "{shape: slabs}", 0)},
          {"regrid pencils, server 777", whole(regrid_partitioner(), "{shape: pencils}", 777)},
          {"regrid bricks, server 99999", whole(regrid_partitioner(), "{shape: bricks}", 99999)},
          {"regrid bricks, all servers", whole(regrid_partitioner(), "{shape: bricks}")},
          {"needs: a plane", needs(PlaneCut{{500, 500, 500}, {.8, -.5, .3}})},
          {"needs: values", needs(ValuesBracketed{{0.3, 0.9}})}};
}

/// The minimum of several runs: disturbances only add time.
double best_of(const Case& one, std::int64_t blocks, int servers, int rounds) {
  double best = 1e300;
  for (int round = 0; round < rounds; ++round) {
    best = std::min(best, in_child([&] { return one.seconds(blocks, servers); }).seconds);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t blocks = argc > 1 ? std::atoll(argv[1]) : 1 << 20;
  const int servers = argc > 2 ? std::atoi(argv[2]) : 100'000;
  const MapFile map(std::max<std::int64_t>(blocks, 1'000'000), std::min(servers, 1000));
  fmt::print("{} blocks, {} servers; peak memory includes the blocks\n\n{:<30} {:>9} {:>9}\n", blocks, servers, "",
             "seconds", "MiB");
  double slowest = 0, largest = 0;
  for (const Case& one : cases(map.path)) {
    const Sample sample = in_child([&] { return one.seconds(blocks, servers); });
    const double seconds = std::min(sample.seconds, best_of(one, blocks, servers, 3));
    fmt::print("{:<30} {:>9.4f} {:>9.0f}\n", one.name, seconds, sample.megabytes);
    slowest = std::max(slowest, seconds);
    largest = std::max(largest, sample.megabytes);
  }
  fmt::print("\nslowest {:.3f} s (limit 1), largest {:.0f} MiB (limit 1024)\n", slowest, largest);
  fmt::print("\ngrowth, 1000 servers: seconds for 10^3 and 10^6 blocks, and their ratio over that of n log n\n");
  double steepest = 0;
  for (const Case& one : cases(map.path)) {
    const double few = best_of(one, 1'000, 1000, 7), many = best_of(one, 1'000'000, 1000, 7);
    const double ratio = many / few / (1000 * 6.0 / 3.0);
    fmt::print("{:<30} {:>12.9f} {:>9.4f} {:>9.2f}\n", one.name, few, many, ratio);
    steepest = std::max(steepest, ratio);
  }
  fmt::print("\nsteepest growth {:.2f} of n log n\n", steepest);
}
