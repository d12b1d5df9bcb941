// Universe: dark matter in a periodic box of an expanding universe, on any number of ranks.
#include <mpi.h>

#include "mini_app/program.hpp"
#include "mini_app/stop.hpp"
#include "simulation.hpp"

namespace {

using namespace universe;

int run(const Options& options) {
  mini_app::catch_signals();  // on servers, too: a server ends when its clients do, not before
  const std::unique_ptr<Coupling> coupling = open_coupling(MPI_COMM_WORLD, options);
  return mini_app::run_coupled(*coupling, "universe", options.quiet, [&] {
    simulate(options, *coupling);
    return 0;
  });
}

}  // namespace

int main(int argc, char** argv) {
  return mini_app::with_mpi(argc, argv, "universe", [](const std::vector<std::string>& arguments) {
    return mini_app::obey(parse_command_line(arguments), run);
  });
}
