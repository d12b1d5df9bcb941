// Universe: dark matter in a periodic box of an expanding universe, on any number of ranks.
#include <mpi.h>

#include <cstdio>

#include "simulation.hpp"
#include "stop.hpp"

namespace {

using namespace universe;

void say(MPI_Comm comm, std::FILE* where, const std::string& text) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) std::fputs(text.c_str(), where);
}

int run(const Options& options) {
  catch_signals();  // on servers too: a server ends when its clients do, not before
  const std::unique_ptr<Coupling> coupling = open_coupling(MPI_COMM_WORLD, options);
  // On a server that call lasts as long as the simulation runs elsewhere.
  if (coupling->serve()) {
    coupling->close();
    return 0;
  }
  int rank = 0, status = 0;
  MPI_Comm_rank(coupling->comm(), &rank);
  try {
    simulate(options, *coupling);
  } catch (const std::exception& error) {
    // The coupling can still be closed in order.
    say(coupling->comm(), stderr, std::string("universe: ") + error.what() + "\n");
    status = 1;
  }
  const std::string account = coupling->close();
  if (rank == 0 && !options.quiet && !account.empty()) std::printf("%s\n", account.c_str());
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  // With it a thread of Sidestream's moves data while a step is computed (placement nodes); less works too.
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int status = 0;
  try {
    const CommandLine line = parse_command_line({argv + 1, argv + argc});
    if (line.options) {
      status = run(*line.options);
    } else {
      say(MPI_COMM_WORLD, line.status == 0 ? stdout : stderr, line.message);
      status = line.status;
    }
  } catch (const std::exception& error) {
    say(MPI_COMM_WORLD, stderr, std::string("universe: ") + error.what() + "\n");
    status = 1;
  }
  MPI_Finalize();
  return status;
}
