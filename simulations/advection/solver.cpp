#include "solver.hpp"

#include <cmath>

#include "regridding.hpp"

namespace advection {

namespace {

double minmod_slope(double before, double here, double after) {
  const double below = here - before, above = after - here;
  if (below * above <= 0) return 0;
  return std::abs(below) < std::abs(above) ? below : above;
}

}  // namespace

Solver::Solver(MPI_Comm comm, const Options& options)
    : comm_(comm), options_(options), geometry_(options), problem_(options) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
  levels_.push_back(fresh(0, divided(geometry_.domain(0), options_.largest)));
  set_exact(levels_[0], 0, geometry_, problem_);
  transfers_ = Transfers(comm_, geometry_, levels_);
  // Each time from the shape as resolved by the levels so far.
  for (int level = 1; level < options_.levels; ++level) regrid(true);
  transfers_.average_down(levels_);
}

Solver::Solver(MPI_Comm comm, const Options& options, const Stored& stored)
    : comm_(comm), options_(options), geometry_(options), problem_(options), clock_(stored.clock) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
  for (std::size_t l = 0; l < stored.boxes.size(); ++l) {
    levels_.push_back(fresh(static_cast<int>(l), stored.boxes[l]));
  }
  transfers_ = Transfers(comm_, geometry_, levels_);
}

Level Solver::fresh(int number, const std::vector<Box>& boxes) const {
  Level level = make_level(deal(geometry_, number, boxes, ranks_), geometry_, rank_);
  set_speeds(level, number, geometry_, problem_);
  return level;
}

// Filled from the coarser level, which is new already, and from earlier cells of this level where they exist.
void Solver::fill(Level& made, int number, const Level* before) const {
  const Level& coarse = levels_[static_cast<std::size_t>(number) - 1];
  const std::vector<Field> under =
      under_patches(plan_under(comm_, geometry_, coarse, made, number), geometry_, coarse, made);
  for (std::size_t p = 0; p < made.patches.size(); ++p) {
    if (made.own(p)) {
      interpolate(under[p], made.patches[p].box, geometry_.ratio(), geometry_.axes(), made.density[p]);
    }
  }
  if (before == nullptr) return;
  CopyPlan(comm_, before->boxes(), made.boxes(), {0, 0, 0}).run(sources(before->density), targets(made.density));
}

void Solver::regrid(bool to_start) {
  fill_ghosts();
  const std::vector<std::vector<Box>> boxes = find_boxes(comm_, options_, geometry_, levels_);
  const std::vector<Level> before = std::move(levels_);
  levels_.clear();
  levels_.push_back(before[0]);
  for (std::size_t l = 1; l <= boxes.size(); ++l) {
    const auto number = static_cast<int>(l);
    Level made = fresh(number, boxes[l - 1]);
    if (to_start) {
      set_exact(made, number, geometry_, problem_);
    } else {
      fill(made, number, l < before.size() ? &before[l] : nullptr);
    }
    levels_.push_back(std::move(made));
  }
  transfers_ = Transfers(comm_, geometry_, levels_);
}

// Densities in the centres of the cells of a patch, and of one layer around it, half a step later.
Field Solver::halfway(const Level& level, int number, std::size_t patch, double dt,
                      std::array<Field, 3>& slopes) const {
  const Field& density = level.density[patch];
  const Box region = grown(level.patches[patch].box, 1, geometry_.axes());
  const double part = problem_.part(clock_.time + 0.5 * dt) * 0.25 * dt / geometry_.spacing(number);
  Field half(region);
  for (std::size_t a = 0; a < static_cast<std::size_t>(geometry_.axes()); ++a) {
    slopes[a] = Field(region);
    const auto step = static_cast<std::size_t>(density.stride(a));
    const Field& speed = level.speeds[patch][a];
    const auto face = static_cast<std::size_t>(speed.stride(a));
    const auto slope = options_.limiter == Limiter::central ? central_slope : minmod_slope;
    for_each(region, [&](Index i, Index j, Index k) {
      const std::size_t here = density.place(i, j, k), there = half.place(i, j, k), low = speed.place(i, j, k);
      const double change = slope(density[here - step], density[here], density[here + step]);
      slopes[a][there] = change;
      if (a == 0) half[there] = density[here];
      half[there] -= part * (speed[low] + speed[low + face]) * change;
    });
  }
  return half;
}

// MUSCL-Hancock, unsplit: P. Colella, "Multidimensional upwind methods for hyperbolic conservation laws", J. Comput.
// Phys. 87 (1990). Uses the simpler of its predictors, which is stable as long as nothing crosses a cell in a step.
Fluxes Solver::fluxes(int number, double dt) const {
  const Level& level = levels_[static_cast<std::size_t>(number)];
  const double part = problem_.part(clock_.time + 0.5 * dt);
  Fluxes all;
  for (std::size_t a = 0; a < static_cast<std::size_t>(geometry_.axes()); ++a) all[a].resize(level.patches.size());
  for (std::size_t p = 0; p < level.patches.size(); ++p) {
    if (!level.own(p)) continue;
    std::array<Field, 3> slopes;
    const Field half = halfway(level, number, p, dt, slopes);
    for (std::size_t a = 0; a < static_cast<std::size_t>(geometry_.axes()); ++a) {
      Field& flux = all[a][p] = Field(faces_of(level.patches[p].box, a));
      const Field& speed = level.speeds[p][a];
      const auto step = static_cast<std::size_t>(half.stride(a));
      for_each(flux.box(), [&](Index i, Index j, Index k) {
        const std::size_t high = half.place(i, j, k), low = high - step;
        const double v = part * speed.at(i, j, k);
        flux.at(i, j, k) = v * (v > 0 ? half[low] + 0.5 * slopes[a][low] : half[high] - 0.5 * slopes[a][high]);
      });
    }
  }
  return all;
}

void Solver::advance(double dt) {
  fill_ghosts();
  std::vector<Fluxes> all;
  for (std::size_t l = 0; l < levels_.size(); ++l) all.push_back(fluxes(static_cast<int>(l), dt));
  transfers_.average_fluxes(all);
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const double part = dt / geometry_.spacing(static_cast<int>(l));
    for (std::size_t p = 0; p < levels_[l].patches.size(); ++p) {
      if (!levels_[l].own(p)) continue;
      for_each(levels_[l].patches[p].box, [&](Index i, Index j, Index k) {
        double change = 0;
        for (std::size_t a = 0; a < static_cast<std::size_t>(geometry_.axes()); ++a) {
          const Field& flux = all[l][a][p];
          const std::size_t low = flux.place(i, j, k);
          change += flux[low + static_cast<std::size_t>(flux.stride(a))] - flux[low];
        }
        levels_[l].density[p].at(i, j, k) -= part * change;
      });
    }
  }
  transfers_.average_down(levels_);
}

void Solver::step() {
  if (clock_.step > 0 && clock_.step % options_.regrid == 0) regrid(false);
  // Based on the finest possible level, so that the length of a step does not depend on the patches.
  const double longest = options_.cfl * geometry_.spacing(options_.levels - 1) / problem_.fastest();
  const double dt = std::min(longest, options_.end - clock_.time);
  advance(dt);
  ++clock_.step;
  clock_.time = dt < longest ? options_.end : clock_.time + dt;
}

}  // namespace advection
