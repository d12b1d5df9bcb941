// The program without Sidestream: counterpart of with_sidestream.cpp.
#include "coupling.hpp"

namespace blast {

std::unique_ptr<Coupling> open_coupling(MPI_Comm comm, const Options& options) {
  if (!options.sidestream.empty()) {
    throw UserError("--sidestream " + options.sidestream + ": this program was built without Sidestream; run " +
                    "'blast', or leave the option out.");
  }
  return std::make_unique<Coupling>(comm);
}

Checkpoint restore(MPI_Comm, const Options&) {
  throw UserError("--restart needs the program that was built with Sidestream, 'blast'.");
}

}  // namespace blast
