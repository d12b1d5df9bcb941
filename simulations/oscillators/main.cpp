// Oscillators: a sum of Gaussians whose strengths vary in time, on a uniform grid cut into blocks. A new implementation
// of the mini-app of the SENSEI papers (Loring et al., "Improving performance of M-to-N processing and data
// redistribution in in transit analysis and visualization", 3.1.1).
#include <mpi.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "input.hpp"
#include "mini_app/program.hpp"
#include "simulation.hpp"

namespace {

using namespace oscillators;

// Reads a file on rank 0 and broadcasts it. Throws on all ranks alike.
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
  // The same text gives the same error everywhere, so that ranks need not communicate it.
  text.resize(static_cast<std::size_t>(size));
  MPI_Bcast(text.data(), static_cast<int>(size), MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

int run(const Options& options) {
  if (options.generate > 0) {
    mini_app::say(MPI_COMM_WORLD, stdout, generate_oscillators(options.generate));
    return 0;
  }
  const auto oscillators = parse_oscillators(read_everywhere(options.input), options.input);
  const std::unique_ptr<Coupling> coupling = open_coupling(MPI_COMM_WORLD, options);
  return mini_app::run_coupled(*coupling, "oscillators", options.quiet,
                               [&] { return Simulation(options, oscillators, *coupling).run(); });
}

}  // namespace

int main(int argc, char** argv) {
  return mini_app::with_mpi(argc, argv, "oscillators", [](const std::vector<std::string>& arguments) {
    mini_app::catch_signals();  // on servers, too: a server ends when its clients do, not before
    return mini_app::obey(parse_command_line(arguments), run);
  });
}
