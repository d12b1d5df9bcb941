#include "simulation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "dump.hpp"
#include "mini_app/together.hpp"

namespace blast {

namespace {

struct Summary {
  std::array<double, 2> totals{};  // mass, energy
  double densest = 0, radius = 0;
};

// Only for display: MPI rounds sums over ranks in any order.
Summary summarise(const Options& options, const Solver& solver) {
  const Forest& forest = solver.forest();
  Summary found;
  for (std::size_t n = 0; n < forest.local(); ++n) {
    const double volume = std::pow(forest.leaves()[n].size(), 3);
    found.totals[0] += volume * solver.values()[n][0];
    found.totals[1] += volume * solver.values()[n][4];
    found.densest = std::max(found.densest, solver.values()[n][0]);
  }
  MPI_Allreduce(MPI_IN_PLACE, found.totals.data(), 2, MPI_DOUBLE, MPI_SUM, forest.comm());
  MPI_Allreduce(MPI_IN_PLACE, &found.densest, 1, MPI_DOUBLE, MPI_MAX, forest.comm());
  const double middle = options.problem == Problem::octant ? 0 : 0.5;
  for (std::size_t n = 0; n < forest.local(); ++n) {
    if (solver.values()[n][0] < found.densest) continue;
    const Leaf& leaf = forest.leaves()[n];
    found.radius =
        std::max(found.radius, std::hypot(leaf.centre(0) - middle, leaf.centre(1) - middle, leaf.centre(2) - middle));
  }
  MPI_Allreduce(MPI_IN_PLACE, &found.radius, 1, MPI_DOUBLE, MPI_MAX, forest.comm());
  return found;
}

void print(const Options& options, const Solver& solver, const Summary& found) {
  std::printf("step %lld, time %.6g: %lld leaves, mass %.12f, energy %.12f",
              static_cast<long long>(solver.clock().step), solver.clock().time,
              static_cast<long long>(solver.forest().global()), found.totals[0], found.totals[1]);
  if (options.blast()) std::printf(", densest (%.3f) at radius %.4f", found.densest, found.radius);
  std::printf("\n");
  std::fflush(stdout);
}

void report(const Options& options, const Solver& solver) {
  int rank = 0;
  MPI_Comm_rank(solver.forest().comm(), &rank);
  const Summary found = summarise(options, solver);
  if (rank == 0) print(options, solver, found);
}

Solver begin(const Options& options, MPI_Comm comm) {
  if (options.restart.empty()) return {comm, options};
  Checkpoint found = restore(comm, options);
  Solver solver(comm, options, found.leaves, std::move(found.values), found.clock);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0 && !options.quiet) {
    std::printf("restarted after step %lld\n", static_cast<long long>(found.clock.step));
  }
  return solver;
}

}  // namespace

void simulate(const Options& options, Coupling& coupling) {
  Solver solver = begin(options, coupling.comm());
  coupling.declare();
  const auto publish = [&] { mini_app::together(coupling.comm(), [&] { coupling.publish(solver); }); };
  if (options.restart.empty()) publish();
  while (solver.clock().step < options.steps && solver.clock().time < options.end) {
    solver.step();
    if (options.progress) report(options, solver);
    if (solver.clock().step % options.every == 0) publish();
  }
  if (!options.dump.empty()) write_leaves(options.dump, solver);
  if (!options.quiet) report(options, solver);
}

}  // namespace blast
