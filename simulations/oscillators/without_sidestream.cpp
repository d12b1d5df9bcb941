// The program without Sidestream: the twin of with_sidestream.cpp.
#include "coupling.hpp"
#include "input.hpp"

namespace oscillators {

std::unique_ptr<Coupling> open_coupling(MPI_Comm comm, const Options& options) {
  if (!options.sidestream.empty()) {
    throw UserError("--sidestream " + options.sidestream + ": this program was built without Sidestream; run " +
                    "'oscillators', or leave the option out.");
  }
  return no_coupling(comm);
}

}  // namespace oscillators
