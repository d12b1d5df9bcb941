// All that the simulation knows of in situ processing. One file implements it with Sidestream, one without.
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
  Box cells;      ///< that it owns
  Box allocated;  ///< points that its array covers, ghosts included
};

class Coupling {
 public:
  virtual ~Coupling() = default;
  /// True if this rank does not take part in the simulation; it has then done all its work but close().
  virtual bool serve() = 0;
  /// The ranks that run the simulation.
  [[nodiscard]] virtual MPI_Comm comm() const = 0;
  /// Collective over comm(), once, before the first step.
  virtual void declare(const Options& options, const std::vector<Patch>& patches) = 0;
  /// Where to compute this patch in this step, or null: in memory of one's own.
  virtual void* memory(const Patch& patch) = 0;
  /// Hands over values: of `data`, or if it came from memory(), without a copy.
  virtual void publish(const Patch& patch, const void* data) = 0;
  virtual void end_step(std::int64_t step, double time) = 0;
  /// Collective over all ranks of open_coupling. Returns a sentence about what became of the steps, perhaps
  /// empty.
  virtual std::string close() = 0;
};

/// Collective over `comm`. Without a configuration in the options: one that does nothing. Throws
/// std::exception on all ranks alike.
[[nodiscard]] std::unique_ptr<Coupling> open_coupling(MPI_Comm comm, const Options& options);

/// Collective over `comm`: fills the points that each patch owns in `data[n]`, an array over what `patches[n]` has
/// allocated, from the newest whole checkpoint that options.restart has, of any number of ranks and blocks. Returns its
/// step. Throws std::exception.
[[nodiscard]] int restore(MPI_Comm comm, const Options& options, const std::vector<Patch>& patches,
                          const std::vector<void*>& data);

/// The one that does nothing: all ranks run the simulation.
[[nodiscard]] std::unique_ptr<Coupling> no_coupling(MPI_Comm comm);

}  // namespace oscillators
