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

class Coupling {
 public:
  virtual ~Coupling() = default;
  /// Returns true if this rank does not take part in the simulation; it has then done all its work except close().
  virtual bool serve() = 0;
  /// The ranks that run the simulation.
  [[nodiscard]] virtual MPI_Comm comm() const = 0;
  /// Collective over comm(), once, before the first step.
  virtual void declare(const Options& options, const std::vector<Patch>& patches) = 0;
  /// The memory in which to compute this patch in this step; null: the caller's own.
  virtual void* memory(const Patch& patch) = 0;
  /// Publishes the values in `data`, without a copy if it came from memory().
  virtual void publish(const Patch& patch, const void* data) = 0;
  virtual void end_step(std::int64_t step, double time) = 0;
  /// Collective over all ranks of open_coupling. Returns a sentence about the outcome of the steps, which may be empty.
  virtual std::string close() = 0;
};

/// Collective over `comm`. Returns a coupling that does nothing if the options have no configuration. Throws
/// std::exception on all ranks alike.
[[nodiscard]] std::unique_ptr<Coupling> open_coupling(MPI_Comm comm, const Options& options);

/// Collective over `comm`: restores the newest complete checkpoint in options.restart, written by any number of ranks
/// and blocks. Fills the points that each patch owns in `data[n]`, an array over the allocated points of `patches[n]`.
/// Returns its step. Throws std::exception.
[[nodiscard]] int restore(MPI_Comm comm, const Options& options, const std::vector<Patch>& patches,
                          const std::vector<void*>& data);

/// A coupling that does nothing: all ranks run the simulation.
[[nodiscard]] std::unique_ptr<Coupling> no_coupling(MPI_Comm comm);

}  // namespace oscillators
