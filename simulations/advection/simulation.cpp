#include "simulation.hpp"

#include <cmath>
#include <cstdio>

#include "dump.hpp"
#include "mini_app/together.hpp"

namespace advection {

namespace {

// Integrals over level 0, which has the means of all finer cells. Only for display: MPI rounds sums over ranks in any
// order.
struct Summary {
  double mass = 0, error = 0;
};

Summary summarise(const Solver& solver) {
  Summary found;
  const Level& level = solver.levels()[0];
  const double volume = std::pow(solver.geometry().spacing(0), solver.geometry().axes());
  for (std::size_t p = 0; p < level.patches.size(); ++p) {
    if (!level.own(p)) continue;
    for_each(level.patches[p].box, [&](Index i, Index j, Index k) {
      const double density = level.density[p].at(i, j, k);
      const double exact = solver.problem().exact(solver.geometry().centre(0, i, j, k), solver.clock().time);
      found.mass += volume * density;
      found.error += volume * std::abs(density - exact);
    });
  }
  std::array<double, 2> sums{found.mass, found.error};
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, solver.comm());
  return {sums[0], sums[1]};
}

void report(const Solver& solver) {
  int rank = 0;
  MPI_Comm_rank(solver.comm(), &rank);
  const Summary found = summarise(solver);
  if (rank != 0) return;
  std::printf("step %lld, time %.6g: mass %.15f", static_cast<long long>(solver.clock().step), solver.clock().time,
              found.mass);
  if (solver.options().flow == Flow::translation || solver.clock().time == solver.options().end) {
    std::printf(", error on level 0 %.3e", found.error);
  }
  for (std::size_t l = 0; l < solver.levels().size(); ++l) {
    const Level& level = solver.levels()[l];
    std::printf("; level %zu: %zu patches, %lld cells", l, level.patches.size(), static_cast<long long>(level.cells()));
  }
  std::printf("\n");
  std::fflush(stdout);
}

std::unique_ptr<Solver> begin(const Options& options, MPI_Comm comm) {
  if (options.restart.empty()) return std::make_unique<Solver>(comm, options);
  std::unique_ptr<Solver> solver = restore(comm, options);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0 && !options.quiet) {
    std::printf("restarted after step %lld\n", static_cast<long long>(solver->clock().step));
  }
  return solver;
}

}  // namespace

void simulate(const Options& options, Coupling& coupling) {
  const std::unique_ptr<Solver> solver = begin(options, coupling.comm());
  coupling.declare(*solver);
  const auto publish = [&] { mini_app::together(coupling.comm(), [&] { coupling.publish(*solver); }); };
  if (options.restart.empty()) publish();
  while (solver->clock().step < options.steps && solver->clock().time < options.end) {
    solver->step();
    if (options.progress) report(*solver);
    if (solver->clock().step % options.every == 0) publish();
  }
  if (!options.dump.empty()) write_cells(options.dump, *solver);
  if (!options.quiet) report(*solver);
}

}  // namespace advection
