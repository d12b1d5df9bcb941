// The program without Sidestream: counterpart of with_sidestream.cpp.
#include "coupling.hpp"
#include "input.hpp"

namespace oscillators {

std::unique_ptr<Coupling> open_coupling(MPI_Comm comm, const Options& options) {
  if (!options.sidestream.empty()) {
    throw UserError("--sidestream " + options.sidestream + ": this program was built without Sidestream; run " +
                    "'oscillators', or leave the option out.");
  }
  return std::make_unique<Coupling>(comm);
}

int restore(MPI_Comm, const Options&, const std::vector<Patch>&, const std::vector<void*>&) {
  throw UserError("--restart needs the program that was built with Sidestream, 'oscillators'.");
}

}  // namespace oscillators
