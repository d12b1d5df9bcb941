// Speed of `placement: {mode: nodes}` compared with a plain stream of MPI_Isend and MPI_Irecv of the same blocks
// between the same ranks in the same run. Also measures if data move while a client computes.
//
//   scripts/mpirun-here -n 2 benchmark_transfer                       one case, several turns; the ratio comes last
//   scripts/mpirun-here -n 4 benchmark_transfer --sweep [--csv FILE]  splits, grid sizes and block sizes
//   scripts/mpirun-here -n 4 benchmark_transfer --steps               0.25 to 256 MiB a step, one block to hundreds
//   scripts/mpirun-here -n 2 benchmark_transfer --computing 2         a client that computes 2 s without a call
//
// Add `--mca btl tcp,self` (Open MPI) to measure without shared memory. The plain stream copies each block to a staging
// buffer as Sidestream does, has two steps in flight, and has no requests, plans or agreements; Sidestream gets room
// for two steps. Both count from the fourth step to the last of sixteen, on the slowest server.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "../measure.hpp"
#include "bare.hpp"
#include "computing.hpp"
#include "stream.hpp"

namespace {

using namespace transfer;

struct Options {
  Case c;
  int repeat = 5;
  bool sweep = false, steps = false;
  double computing = 0;
  std::string csv;
};

struct Measured {
  double bare = 0, sidestream = 0;  ///< bytes per second
  [[nodiscard]] double ratio() const { return sidestream / bare; }
};

constexpr const char* default_way = "progress: auto";

/// Medians of alternating turns.
Measured measure(const Case& c, int repeat) {
  std::vector<double> bare, sidestream;
  for (int turn = 0; turn < repeat; ++turn) {
    bare.push_back(bare_stream(MPI_COMM_WORLD, c));
    sidestream.push_back(sidestream_stream(MPI_COMM_WORLD, c, default_way));
  }
  const auto bytes = static_cast<double>(c.bytes());
  return {bytes / benchmark::median(bare), bytes / benchmark::median(sidestream)};
}

class Table {
 public:
  Table(bool prints, const std::string& csv) : prints_(prints) {
    if (!prints) return;
    std::printf("%-11s %8s %7s %7s %9s %7s %12s %12s %7s\n", "varied", "clients", "servers", "grid", "MiB", "block",
                "bare GB/s", "nodes GB/s", "ratio");
    if (csv.empty()) return;
    file_ = std::fopen(csv.c_str(), "w");
    if (!file_) throw std::runtime_error("cannot write " + csv);
    std::fprintf(file_, "varied,clients,servers,grid,block,components,bytes,bare,nodes\n");
  }
  ~Table() {
    if (file_) std::fclose(file_);
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  void row(const char* varied, const Case& c, const Measured& m) {
    if (!prints_) return;
    std::printf("%-11s %8d %7d %6lld^3 %9.1f %6lld^3 %11.2f %11.2f %8.3f\n", varied, c.clients(), c.servers,
                static_cast<long long>(c.cells), static_cast<double>(c.bytes()) / (1 << 20),
                static_cast<long long>(c.block), m.bare / 1e9, m.sidestream / 1e9, m.ratio());
    std::fflush(stdout);
    if (!file_) return;
    std::fprintf(file_, "%s,%d,%d,%lld,%lld,%lld,%llu,%.0f,%.0f\n", varied, c.clients(), c.servers,
                 static_cast<long long>(c.cells), static_cast<long long>(c.block), static_cast<long long>(c.components),
                 static_cast<unsigned long long>(c.bytes()), m.bare, m.sidestream);
  }

 private:
  bool prints_;
  std::FILE* file_ = nullptr;
};

/// Steps from a quarter of a MiB to 256 MiB in one block, a few and hundreds, of all clients and of one. Returns the
/// smallest ratio.
double steps(const Options& options, Table& table) {
  double smallest = 1e9;
  const auto row = [&](const char* name, const Case& c) {
    const Measured m = measure(c, std::min(options.repeat, 3));
    table.row(name, c, m);
    smallest = std::min(smallest, m.ratio());
  };
  for (const std::int64_t quarters : {1, 4, 16, 64, 256, 1024}) {
    Case c = options.c;
    c.cells = c.block = 32;  // 32768 float64 values are a quarter of a MiB
    c.components = quarters;
    c.one_busy = true;
    row("one block", c);
    c.block = 5;
    row("343, one", c);
    c.one_busy = false;
    row("343, all", c);
    c.block = 16;
    row("8, all", c);
  }
  return smallest;
}

void sweep(const Options& options, Table& table) {
  const int repeat = std::min(options.repeat, 3);
  for (int servers = 1; servers < options.c.ranks; ++servers) {
    Case c = options.c;
    c.servers = servers;
    table.row("split", c, measure(c, repeat));
  }
  for (const std::int64_t cells : {16, 32, 64, 96, 128}) {
    Case c = options.c;
    c.cells = cells;
    c.block = std::min<std::int64_t>(c.block, cells);
    table.row("grid size", c, measure(c, repeat));
  }
  for (const std::int64_t block : {8, 16, 32, 48, 96}) {
    Case c = options.c;
    c.block = block;
    table.row("block size", c, measure(c, repeat));
  }
}

/// Returns the line that is printed last.
std::string report(const Options& options, const std::string& way, bool prints) {
  const Overlap o = overlap(MPI_COMM_WORLD, options.c, way, options.computing);
  if (!prints) return "";
  std::printf("%-28s %9.3f %9.3f %9.3f %9.3f %9.3f\n", way.c_str(), o.moving, o.alone, o.beside, o.arrived, o.latest);
  std::fflush(stdout);
  return fmt::format("{:<28} fraction of the overlap kept {:.3f} (1 wanted), computing longer by {:.3f}\n", way,
                     o.kept(), o.slowdown());
}

void computing(const Options& options, bool prints) {
  if (prints) {
    std::printf(
        "%.1f MiB from %d ranks to %d servers. Seconds: a step of the bare stream; computing alone; computing after\n"
        "end_iteration; from there until the analysis has seen all values, median and largest\n\n"
        "%-28s %9s %9s %9s %9s %9s\n",
        static_cast<double>(options.c.bytes()) / (1 << 20), options.c.clients(), options.c.servers, "", "bare", "alone",
        "beside", "arrived", "largest");
  }
  std::string last = report(options, "progress: calls", prints);
  if (options.c.clients() > 1) last += report(options, "forward: blocks, per_node: 1", prints);
  last += report(options, "progress: thread", prints);
  if (prints) std::printf("\n%s", last.c_str());
}

void run(const Options& options, bool prints) {
  if (options.computing > 0) return computing(options, prints);
  Table table(prints, options.csv);
  if (options.sweep) return sweep(options, table);
  if (options.steps) {
    const double smallest = steps(options, table);
    if (prints) std::printf("smallest ratio nodes / bare stream %.3f   (at least 0.7 wanted)\n", smallest);
    return;
  }
  const Measured m = measure(options.c, options.repeat);
  table.row("nothing", options.c, m);
  if (prints) std::printf("ratio nodes / bare stream %.3f   (at least 0.7 wanted)\n", m.ratio());
}

void declare(CLI::App& app, Options& o) {
  app.add_option("--servers", o.c.servers, "Ranks that receive, the last ones")->check(CLI::PositiveNumber);
  app.add_option("--cells", o.c.cells, "Cells along each axis of the grid")->check(CLI::Range(1, 4096));
  app.add_option("--block", o.c.block, "Cells along each axis of a block")->check(CLI::Range(1, 4096));
  app.add_option("--components", o.c.components, "Values of a cell")->check(CLI::Range(1, 1024));
  app.add_option("--repeat", o.repeat, "Turns of each measurement")->check(CLI::Range(1, 1000));
  app.add_flag("--sweep", o.sweep, "Vary the split, the grid and the blocks");
  app.add_flag("--steps", o.steps, "Vary what a step moves, in how many blocks, and which clients have them");
  app.add_option("--computing", o.computing, "Seconds that a client computes after each step, without a call");
  app.add_option("--csv", o.csv, "File for the table");
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Options options;
  MPI_Comm_size(MPI_COMM_WORLD, &options.c.ranks);
  CLI::App app("How fast placement nodes moves blocks, compared with bare MPI.", "benchmark_transfer");
  declare(app, options);
  int status = 0;
  try {
    app.parse(argc, argv);
    if (options.c.clients() < 1) throw std::runtime_error("start more ranks: one client at least beside the servers");
    run(options, rank == 0);
    if (rank == 0) std::filesystem::remove_all("transfer-results");
  } catch (const CLI::ParseError& error) {
    status = rank == 0 ? app.exit(error) : error.get_exit_code();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "benchmark_transfer: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
