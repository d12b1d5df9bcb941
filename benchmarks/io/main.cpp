// Comparison of ways to write the same fields to disk.
//
//   scripts/mpirun-here -n 2 benchmark_io [--cells 128] [--steps 6] [--only raw,database]   tables; ratios come last
//   scripts/mpirun-here --mca io romio321 -n 9 benchmark_io ...           MPI-IO by ROMIO instead of OMPIO
//   scripts/mpirun-here -n 2 benchmark_io --visible | --spare --codec '[byte-shuffle, zstd]' | --read [--cold]
//
// The last rank of each node is Sidestream's dedicated core; the others simulate, and write with all other methods.
// Each method has a file here. benchmarks/io_methods runs it for several rank counts and draws the bars.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "comparison.hpp"
#include "database.hpp"
#include "methods.hpp"
#include "parts.hpp"

namespace {

using namespace io;
namespace fs = std::filesystem;

struct Wanted {
  Options options;
  std::int64_t cells = 128;
  std::vector<std::string> only;
  std::string csv;
  bool cached = true, fsync = true, keep = false;
  bool visible = false, spare = false, read = false, cold = false;
  int rounds = 5, servers = 1;
};

bool is_wanted(const Wanted& wanted, const std::string& name) {
  const auto part_of_name = [&](const std::string& text) { return name.rfind(text, 0) == 0; };
  return wanted.only.empty() || name == "raw" || std::any_of(wanted.only.begin(), wanted.only.end(), part_of_name);
}

std::string own_folder(const Fields& fields, const Options& options, const std::string& name) {
  const std::string folder = options.directory + "/" + name;
  if (fields.rank == 0) fs::create_directories(folder);
  MPI_Barrier(fields.comm);
  return folder;
}

std::vector<Sync> modes_of(const Wanted& wanted) {
  std::vector<Sync> modes;
  if (wanted.cached) modes.push_back(Sync::no);
  if (wanted.fsync) modes.push_back(Sync::yes);
  return modes;
}

void compare_methods(const Wanted& wanted, Fields& fields, Stream& cores) {
  Stream inlined(fields.comm, wanted.options, own_folder(fields, wanted.options, "database-inline"), "inline");
  inlined.start(fields);
  std::vector<Contender> contenders;
  const auto add = [&](const std::string& name, std::unique_ptr<Method> method) {
    contenders.push_back({name, own_folder(fields, wanted.options, name), std::move(method)});
  };
  for (const MethodKind& kind : other_methods(wanted.options)) {
    if (!is_wanted(wanted, kind.name)) continue;
    if (!kind.missing.empty()) {
      if (fields.rank == 0) std::printf("left out: %s; %s\n", kind.name.c_str(), kind.missing.c_str());
      continue;
    }
    add(kind.name, kind.create(wanted.options, own_folder(fields, wanted.options, kind.name)));
  }
  if (is_wanted(wanted, "database-cores")) add("database-cores", database_method(cores));
  if (is_wanted(wanted, "database-inline")) add("database-inline", database_method(inlined));
  const std::vector<Sample> samples =
      compare(fields, contenders, {wanted.options.steps, modes_of(wanted), wanted.keep});
  for (Contender& contender : contenders) contender.method->close();
  inlined.close();
  if (fields.rank != 0) return;
  report(samples, wanted.csv,
         fmt::format("{} ranks {:.1f} MiB", fields.ranks, static_cast<double>(fields.bytes()) / (1 << 20)));
}

/// Stores the values of one step, raw and in a database.
void store(Fields& fields, const Options& options, Stream& cores) {
  fields.fill(0);
  raw_method().create(options, own_folder(fields, options, "raw"))->write(fields, 0, Sync::yes);
  cores.publish(fields, 0, name_of(Sync::yes));
  cores.wait_for(Sync::yes, 1);
}

void simulate(const Wanted& wanted, Stream& cores) {
  Fields fields(cores.comm(), wanted.options.grid, wanted.options.variables);
  cores.start(fields);
  std::string last;
  if (wanted.visible) {
    last = visible_time(fields, cores, wanted.options.steps, wanted.rounds);
  } else if (wanted.spare) {
    last = spare_time(fields, cores, wanted.options.steps);
  } else if (wanted.read) {
    store(fields, wanted.options, cores);
  } else {
    compare_methods(wanted, fields, cores);
  }
  if (fields.rank == 0) std::fputs(last.c_str(), stdout);
}

/// Reads with all ranks, including the server: another number than when writing.
void read(const Wanted& wanted, const Stream& cores, int rank, int ranks) {
  Stored stored;
  stored.database = cores.database(Sync::yes);
  stored.grid = wanted.options.grid;
  stored.writers = ranks - wanted.servers;
  for (int n = 0; n < stored.writers; ++n)
    stored.raw.push_back(step_file(wanted.options.directory + "/raw", 0, n, "raw"));
  for (int v = 0; v < wanted.options.variables; ++v) stored.names.push_back("field" + std::to_string(v));
  const std::string last = read_back(MPI_COMM_WORLD, stored, wanted.rounds, wanted.cold);
  if (rank == 0) std::fputs(last.c_str(), stdout);
}

void run(const Wanted& wanted) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks <= wanted.servers) throw Error("start more ranks: some of each node are Sidestream's, see --servers");
  if (rank == 0) fs::create_directories(wanted.options.directory);
  MPI_Barrier(MPI_COMM_WORLD);
  const std::uint64_t iteration = static_cast<std::uint64_t>(wanted.cells * wanted.cells * wanted.cells) * 8 *
                                  static_cast<std::uint64_t>(wanted.options.variables);
  // The disk is to lag while there is room.
  const int kept = wanted.visible ? wanted.options.steps + 1 : 2;
  const std::string placement = fmt::format("{{mode: cores, per_node: {}, buffer: {}, max_in_flight: {}}}",
                                            wanted.servers, kept * iteration + (64 << 20), std::max(2, kept));
  Stream cores(MPI_COMM_WORLD, wanted.options, wanted.options.directory + "/database-cores", placement);
  if (cores.is_server()) {
    cores.serve();
  } else {
    simulate(wanted, cores);
  }
  cores.close();
  if (wanted.read) read(wanted, cores, rank, ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && !wanted.keep) fs::remove_all(wanted.options.directory);
}

void declare(CLI::App& app, Wanted& wanted) {
  Options& o = wanted.options;
  app.add_option("--directory", o.directory, "Where files go; removed at the end");
  app.add_flag("--keep", wanted.keep, "Leave them");
  app.add_option("--cells", wanted.cells, "Cells along each axis of the whole grid")->check(CLI::Range(2, 65536));
  app.add_option("--variables", o.variables, "Of float64")->check(CLI::PositiveNumber);
  app.add_option("--servers", wanted.servers, "Dedicated cores of each node")->check(CLI::PositiveNumber);
  app.add_option("--steps", o.steps, "Of which the first counts as initialisation")->check(CLI::PositiveNumber);
  app.add_option("--only", wanted.only, "Methods whose names begin with one of these, and raw")->delimiter(',');
  app.add_flag("!--no-cached", wanted.cached, "Without steps that do not wait for the disk");
  app.add_flag("!--no-fsync", wanted.fsync, "Without steps that do");
  app.add_option("--turns", o.turns, "K: ranks that open and write at a time, of posix")->check(CLI::PositiveNumber);
  app.add_option("--files", o.files, "A: files of aggregate and of ADIOS")->check(CLI::PositiveNumber);
  app.add_option("--alignment", o.alignment, "Bytes, of what HDF5 places in files")->check(CLI::PositiveNumber);
  app.add_option("--stripes", o.stripes, "Targets of a striped file system to spread files over");
  app.add_option("--stripe-size", o.stripe_size, "Bytes of a stripe");
  app.add_option("--hint", o.hints, "KEY=VALUE, of MPI-IO; again for more");
  app.add_option("--codec", o.codec, "Of the databases, as in a configuration: '[byte-shuffle, zstd]'");
  app.add_option("--database", o.database, "Options of the databases: 'contributors_per_file: 1, hdf5: false'");
  app.add_flag("--visible", wanted.visible, "Instead: what the simulation waits for while the disk is behind");
  app.add_flag("--spare", wanted.spare, "Instead: what codecs on the spare core (--codec) cost the simulation");
  app.add_flag("--read", wanted.read, "Instead: reading back, on one rank more than wrote");
  app.add_flag("--cold", wanted.cold, "With --read: from the disk");
  app.add_option("--rounds", wanted.rounds, "Of those three")->check(CLI::PositiveNumber);
  app.add_option("--csv", wanted.csv, "File for all samples");
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Wanted wanted;
  CLI::App app("Ways to get the same fields to disk, side by side.", "benchmark_io");
  declare(app, wanted);
  int status = 0;
  try {
    app.parse(argc, argv);
    wanted.options.grid = {wanted.cells, wanted.cells, wanted.cells};
    run(wanted);
  } catch (const CLI::ParseError& error) {
    status = rank == 0 ? app.exit(error) : error.get_exit_code();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "benchmark_io: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
