// All that the simulation knows of in situ processing. One file implements it with Sidestream, one without.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "options.hpp"
#include "state.hpp"

namespace universe {

class Coupling {
 public:
  virtual ~Coupling() = default;
  /// True if this rank does not take part in the simulation; it has then done all its work but close().
  virtual bool serve() = 0;
  /// The ranks that run the simulation.
  [[nodiscard]] virtual MPI_Comm comm() const = 0;
  /// Collective over comm(), once, before the first publication.
  virtual void declare(const Layout& layout, const Options& options) = 0;
  /// Collective over comm(): hands over everything as it is after the step that `state` made last.
  virtual void publish(const State& state) = 0;
  /// Collective over comm(), after publish().
  virtual void end_iteration(const State& state) = 0;
  /// Collective over all ranks of open_coupling. Returns a sentence about what became of the steps, perhaps empty.
  virtual std::string close() = 0;
};

/// Collective over `comm`. Without a configuration in the options: one that does nothing. Throws std::exception on all
/// ranks alike.
[[nodiscard]] std::unique_ptr<Coupling> open_coupling(MPI_Comm comm, const Options& options);

/// A share of the particles of a checkpoint, wherever they are.
struct Checkpoint {
  Particles particles;
  std::int64_t step = 0;
};

/// Collective over `comm`: the newest whole checkpoint that options.restart has, of any number of ranks. Throws
/// std::exception.
[[nodiscard]] Checkpoint restore(MPI_Comm comm, const Options& options);

/// The one that does nothing: all ranks run the simulation.
[[nodiscard]] std::unique_ptr<Coupling> no_coupling(MPI_Comm comm);

}  // namespace universe
