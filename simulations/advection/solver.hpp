// The density on all levels: one time step for all of them, limited slopes, patches that follow it.
#pragma once

#include <vector>

#include "levels.hpp"
#include "transfers.hpp"

namespace advection {

/// Where a run is: what a checkpoint has to hold besides the patches.
struct Clock {
  std::int64_t step = 0;
  double time = 0;
};

/// What was in a checkpoint, but for the densities.
struct Stored {
  std::vector<std::vector<Box>> boxes;  ///< by level
  Clock clock;
};

/// What becomes of a cell depends on the cells and the options, bit for bit, not on the ranks that have them.
class Solver {
 public:
  /// Collective: the start of the problem.
  Solver(MPI_Comm comm, const Options& options);
  /// Collective: goes on with these patches, whose densities the caller then sets, before anything else.
  Solver(MPI_Comm comm, const Options& options, const Stored& stored);
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  /// Collective: changes the patches where that is due, then makes one step, not beyond options.end.
  void step();
  /// Collective: two layers of cells round each patch, as they are now.
  void fill_ghosts() { transfers_.fill_ghosts(levels_); }

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const Geometry& geometry() const { return geometry_; }
  [[nodiscard]] const Problem& problem() const { return problem_; }
  /// From the coarsest; cells that finer ones cover have their mean.
  [[nodiscard]] const std::vector<Level>& levels() const { return levels_; }
  [[nodiscard]] std::vector<Level>& levels() { return levels_; }

 private:
  [[nodiscard]] Level fresh(int number, const std::vector<Box>& boxes) const;
  void regrid(bool to_start);
  void fill(Level& made, int number, const Level* before) const;
  [[nodiscard]] Field halfway(const Level& level, int number, std::size_t patch, double dt,
                              std::array<Field, 3>& slopes) const;
  [[nodiscard]] Fluxes fluxes(int number, double dt) const;
  void advance(double dt);

  MPI_Comm comm_;
  int rank_ = 0, ranks_ = 1;
  Options options_;
  Geometry geometry_;
  Problem problem_;
  Clock clock_;
  std::vector<Level> levels_;
  Transfers transfers_;
};

}  // namespace advection
