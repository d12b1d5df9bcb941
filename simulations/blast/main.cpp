// Blast: the Euler equations on an octree that follows the shocks, on any number of ranks.
#include <mpi.h>
#include <p8est.h>

#include "mini_app/program.hpp"
#include "simulation.hpp"

namespace {

using namespace blast;

// p4est's global state, with the lifetime of MPI.
class ForestLibrary {
 public:
  ForestLibrary() {
    sc_init(MPI_COMM_WORLD, 0, 0, nullptr, SC_LP_ERROR);
    p4est_init(nullptr, SC_LP_ERROR);
  }
  ~ForestLibrary() { sc_finalize(); }
  ForestLibrary(const ForestLibrary&) = delete;
  ForestLibrary& operator=(const ForestLibrary&) = delete;
};

int run(const Options& options) {
  const std::unique_ptr<Coupling> coupling = open_coupling(MPI_COMM_WORLD, options);
  return mini_app::run_coupled(*coupling, "blast", options.quiet, [&] {
    simulate(options, *coupling);
    return 0;
  });
}

}  // namespace

int main(int argc, char** argv) {
  return mini_app::with_mpi(argc, argv, "blast", [](const std::vector<std::string>& arguments) {
    const ForestLibrary library;
    return mini_app::obey(parse_command_line(arguments), run);
  });
}
