// The density on all levels: one time step for all, limited slopes, patches that follow it.
#pragma once

#include <vector>

#include "levels.hpp"
#include "transfers.hpp"

namespace advection {

/// State of a run that a checkpoint holds besides the patches.
struct Clock {
  std::int64_t step = 0;
  double time = 0;
};

/// Content of a checkpoint except the densities.
struct Stored {
  std::vector<std::vector<Box>> boxes;  ///< by level
  Clock clock;
};

/// The evolution of a cell depends bit for bit only on the cells and the options, not on their distribution to ranks.
class Solver {
 public:
  /// Collective: starts the problem.
  Solver(MPI_Comm comm, const Options& options);
  /// Collective: continues with these patches. The caller must set their densities first.
  Solver(MPI_Comm comm, const Options& options, const Stored& stored);
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  /// Collective: changes the patches if due, then makes one step, at most to options.end.
  void step();
  /// Collective: fills two layers of cells around each patch with current values.
  void fill_ghosts() { transfers_.fill_ghosts(levels_); }

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const Geometry& geometry() const { return geometry_; }
  [[nodiscard]] const Problem& problem() const { return problem_; }
  /// From the coarsest; cells covered by finer ones have their mean.
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
