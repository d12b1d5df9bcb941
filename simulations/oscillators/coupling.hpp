// The simulation's only interface to in situ processing. One file implements it with Sidestream, one without.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "field.hpp"
#include "options.hpp"

namespace oscillators {

/// One block of this rank.
struct Patch {
  std::int64_t id = 0;
  Box cells;      ///< the cells it owns
  Box allocated;  ///< points that its array covers, including ghosts
};

/// In itself it does nothing: all ranks run the simulation.
class Coupling {
 public:
  explicit Coupling(MPI_Comm comm) : comm_(comm) {}
  virtual ~Coupling() = default;
  /// Returns true if this rank does not take part in the simulation; it has then done all its work except close().
  virtual bool serve() { return false; }
  /// The ranks that run the simulation.
  [[nodiscard]] virtual MPI_Comm comm() const { return comm_; }
  /// Collective over comm(), once, before the first step.
  virtual void declare(const Options&, const std::vector<Patch>&) {}
  /// The memory in which to compute this patch in this step; null: the caller's own.
  virtual void* memory(const Patch&) { return nullptr; }
  /// Publishes the values in `data`, without a copy if it came from memory().
  virtual void publish(const Patch&, const void*) {}
  virtual void end_step(std::int64_t, double) {}
  /// Collective over all ranks of open_coupling. Returns a sentence about the outcome of the steps, which may be empty.
  virtual std::string close() { return ""; }

 private:
  MPI_Comm comm_;
};

/// Collective over `comm`. Returns a coupling that does nothing if the options have no configuration. Throws
/// std::exception on all ranks alike.
[[nodiscard]] std::unique_ptr<Coupling> open_coupling(MPI_Comm comm, const Options& options);

/// Collective over `comm`: restores the newest complete checkpoint in options.restart, written by any number of ranks
/// and blocks. Fills the points that each patch owns in `data[n]`, an array over the allocated points of `patches[n]`.
/// Returns its step. Throws std::exception.
[[nodiscard]] int restore(MPI_Comm comm, const Options& options, const std::vector<Patch>& patches,
                          const std::vector<void*>& data);

}  // namespace oscillators
