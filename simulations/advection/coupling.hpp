// All that the simulation knows of in situ processing. One file implements it with Sidestream, one without.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "options.hpp"
#include "solver.hpp"

namespace advection {

class Coupling {
 public:
  virtual ~Coupling() = default;
  /// True if this rank does not take part in the simulation; it has then done all its work but close().
  virtual bool serve() = 0;
  /// The ranks that run the simulation.
  [[nodiscard]] virtual MPI_Comm comm() const = 0;
  /// Collective over comm(), once, before the first publication.
  virtual void declare(const Solver& solver) = 0;
  /// Collective over comm(): hands over everything as it is after the step that `solver` made last.
  virtual void publish(Solver& solver) = 0;
  /// Collective over all ranks of open_coupling. Returns a sentence about what became of the steps, perhaps empty.
  virtual std::string close() = 0;
};

/// Collective over `comm`. Without a configuration in the options: one that does nothing. Throws std::exception on all
/// ranks alike.
[[nodiscard]] std::unique_ptr<Coupling> open_coupling(MPI_Comm comm, const Options& options);

/// Collective over `comm`: a solver as the newest whole checkpoint that options.restart has left it, whatever number of
/// ranks wrote that. Throws std::exception.
[[nodiscard]] std::unique_ptr<Solver> restore(MPI_Comm comm, const Options& options);

/// The one that does nothing: all ranks run the simulation.
[[nodiscard]] std::unique_ptr<Coupling> no_coupling(MPI_Comm comm);

}  // namespace advection
