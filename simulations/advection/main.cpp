// Advection of a density on patches of several levels that follow it, on any number of ranks.
#include <mpi.h>

#include "mini_app/program.hpp"
#include "simulation.hpp"

namespace {

using namespace advection;

int run(const Options& options) {
  const std::unique_ptr<Coupling> coupling = open_coupling(MPI_COMM_WORLD, options);
  return mini_app::run_coupled(*coupling, "advection", options.quiet, [&] {
    simulate(options, *coupling);
    return 0;
  });
}

}  // namespace

int main(int argc, char** argv) {
  return mini_app::with_mpi(argc, argv, "advection", [](const std::vector<std::string>& arguments) {
    return mini_app::obey(parse_command_line(arguments), run);
  });
}
