// The simulation's only interface to in situ processing. One file implements it with Sidestream, one without.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "options.hpp"
#include "solver.hpp"

namespace advection {

/// In itself it does nothing: all ranks run the simulation.
class Coupling {
 public:
  explicit Coupling(MPI_Comm comm) : comm_(comm) {}
  virtual ~Coupling() = default;
  /// Returns true if this rank does not take part in the simulation; it has then done all its work except close().
  virtual bool serve() { return false; }
  /// The ranks that run the simulation.
  [[nodiscard]] virtual MPI_Comm comm() const { return comm_; }
  /// Collective over comm(), once, before the first publication.
  virtual void declare(const Solver&) {}
  /// Collective over comm(): publishes the state after the last step of `solver`.
  virtual void publish(Solver&) {}
  /// Collective over all ranks of open_coupling. Returns a sentence about the outcome of the steps, which may be empty.
  virtual std::string close() { return ""; }

 private:
  MPI_Comm comm_;
};

/// Collective over `comm`. Returns a coupling that does nothing if the options have no configuration. Throws
/// std::exception on all ranks alike.
[[nodiscard]] std::unique_ptr<Coupling> open_coupling(MPI_Comm comm, const Options& options);

/// Collective over `comm`: a solver in the state of the newest complete checkpoint in options.restart, written by any
/// number of ranks. Throws std::exception.
[[nodiscard]] std::unique_ptr<Solver> restore(MPI_Comm comm, const Options& options);

}  // namespace advection
