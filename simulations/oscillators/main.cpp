// Oscillators: a sum of Gaussians whose strengths vary in time, on a uniform grid cut into blocks. The
// mini-app of the SENSEI papers (Loring et al., "Improving performance of M-to-N processing and data
// redistribution in in transit analysis and visualization", 3.1.1), written anew.
#include <mpi.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "input.hpp"
#include "simulation.hpp"

namespace {

using namespace oscillators;

void say(MPI_Comm comm, std::FILE* where, const std::string& text) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) std::fputs(text.c_str(), where);
}

// Rank 0 reads, all get the text. Throws on all ranks alike.
std::string read_everywhere(const std::string& file) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string text;
  long long size = -1;
  if (rank == 0) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream content;
    if (in && content << in.rdbuf()) {
      text = content.str();
      size = static_cast<long long>(text.size());
    }
  }
  MPI_Bcast(&size, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
  if (size < 0) throw UserError(file + ": cannot be read or is empty; expected a file with a line per oscillator.");
  // The same text everywhere gives the same error everywhere: no rank has to tell another.
  text.resize(static_cast<std::size_t>(size));
  MPI_Bcast(text.data(), static_cast<int>(size), MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

// The simulation's ranks; whatever happens, the coupling can then be closed in order.
int simulate(const Options& options, const std::vector<Oscillator>& oscillators, Coupling& coupling) {
  try {
    return Simulation(options, oscillators, coupling).run();
  } catch (const std::exception& error) {
    say(coupling.comm(), stderr, std::string("oscillators: ") + error.what() + "\n");
    return 1;
  }
}

int run(const Options& options) {
  const auto oscillators = parse_oscillators(read_everywhere(options.input), options.input);
  const std::unique_ptr<Coupling> coupling = open_coupling(MPI_COMM_WORLD, options);
  // On a server that call lasts as long as the simulation runs elsewhere.
  if (coupling->serve()) {
    coupling->close();
    return 0;
  }
  int rank = 0;
  MPI_Comm_rank(coupling->comm(), &rank);
  const int status = simulate(options, oscillators, *coupling);
  const std::string account = coupling->close();
  if (rank == 0 && !options.quiet && !account.empty()) std::printf("%s\n", account.c_str());
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  // With it a thread of Sidestream's moves data while a step is computed (placement nodes); less works too.
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  catch_signals();  // on servers too: a server ends when its clients do, not before
  int status = 0;
  const CommandLine line = parse_command_line({argv + 1, argv + argc});
  try {
    if (!line.options) {
      say(MPI_COMM_WORLD, line.status == 0 ? stdout : stderr, line.message);
      status = line.status;
    } else if (line.options->generate > 0) {
      say(MPI_COMM_WORLD, stdout, generate_oscillators(line.options->generate));
    } else {
      status = run(*line.options);
    }
  } catch (const std::exception& error) {
    say(MPI_COMM_WORLD, stderr, std::string("oscillators: ") + error.what() + "\n");
    status = 1;
  }
  MPI_Finalize();
  return status;
}
