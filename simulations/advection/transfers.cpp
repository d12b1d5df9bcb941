#include "transfers.hpp"

#include <cmath>

namespace advection {

namespace {

// Position of a finer cell in its coarse one along an axis: from -1/2 to 1/2.
double offset(Index fine, Index ratio) {
  const Index within = fine - ratio * floor_of(fine, ratio);
  return (within + 0.5) / ratio - 0.5;
}

// The mean of the finer values in each coarse one; with `axis`, for faces normal to it.
Field mean_of(const Field& fine, const Box& coarse, Index3 ratio, std::size_t axis = 3) {
  Field mean(coarse);
  Index3 step = ratio;
  if (axis < 3) ratio[axis] = 1;
  const double part = 1.0 / (double(ratio[0]) * ratio[1] * ratio[2]);
  for_each(coarse, [&](Index i, Index j, Index k) {
    double sum = 0;
    const Index3 lo{i * step[0], j * step[1], k * step[2]};
    for_each({lo, {lo[0] + ratio[0], lo[1] + ratio[1], lo[2] + ratio[2]}},
             [&](Index x, Index y, Index z) { sum += fine.at(x, y, z); });
    mean.at(i, j, k) = sum * part;
  });
  return mean;
}

std::vector<Owned> coarse_boxes(const Level& fine, const Index3& ratio) {
  std::vector<Owned> boxes = fine.boxes();
  for (Owned& one : boxes) one.box = coarsened(one.box, ratio);
  return boxes;
}

std::vector<Owned> with_faces(std::vector<Owned> boxes, std::size_t axis) {
  for (Owned& one : boxes) one.box = faces_of(one.box, axis);
  return boxes;
}

}  // namespace

double central_slope(double before, double here, double after) {
  const double below = here - before, above = after - here;
  if (below * above <= 0) return 0;
  const double most = 2 * std::min(std::abs(below), std::abs(above));
  return std::copysign(std::min(most, 0.5 * std::abs(after - before)), below);
}

void interpolate(const Field& coarse, const Box& where, const Index3& ratio, int axes, Field& fine) {
  for_each(where, [&](Index i, Index j, Index k) {
    const Index3 at{i, j, k};
    const std::size_t middle = coarse.place(floor_of(i, ratio[0]), floor_of(j, ratio[1]), floor_of(k, ratio[2]));
    double value = coarse[middle];
    for (std::size_t a = 0; a < static_cast<std::size_t>(axes); ++a) {
      const auto step = static_cast<std::size_t>(coarse.stride(a));
      const double slope = central_slope(coarse[middle - step], coarse[middle], coarse[middle + step]);
      value += offset(at[a], ratio[a]) * slope;
    }
    fine.at(i, j, k) = value;
  });
}

CopyPlan plan_under(MPI_Comm comm, const Geometry& geometry, const Level& coarse, const Level& fine, int number) {
  std::vector<Owned> under = fine.boxes();
  for (Owned& one : under) one.box = geometry.under(one.box);
  return {comm, coarse.boxes(), under, geometry.period(number - 1)};
}

std::vector<Field> under_patches(const CopyPlan& plan, const Geometry& geometry, const Level& coarse,
                                 const Level& fine) {
  std::vector<Field> under(fine.patches.size());
  for (std::size_t p = 0; p < under.size(); ++p) {
    if (fine.own(p)) under[p] = Field(geometry.under(fine.patches[p].box));
  }
  plan.run(sources(coarse.density), targets(under));
  return under;
}

Transfers::Transfers(MPI_Comm comm, const Geometry& geometry, const std::vector<Level>& levels) : geometry_(geometry) {
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const auto number = static_cast<int>(l);
    const Level& level = levels[l];
    Between& step = steps_.emplace_back();
    std::vector<Owned> round = level.boxes();
    for (Owned& one : round) one.box = grown(one.box, ghost_layers, geometry.axes());
    step.beside = CopyPlan(comm, level.boxes(), round, geometry.period(number));
    if (l == 0) continue;
    step.from_coarse = plan_under(comm, geometry, levels[l - 1], level, number);
    const std::vector<Owned> means = coarse_boxes(level, geometry.ratio()), below = levels[l - 1].boxes();
    step.to_coarse = CopyPlan(comm, means, below, {0, 0, 0});
    for (std::size_t a = 0; a < static_cast<std::size_t>(geometry.axes()); ++a) {
      step.fluxes[a] = CopyPlan(comm, with_faces(means, a), with_faces(below, a), geometry.period(number - 1));
    }
  }
}

void Transfers::fill_from_coarse(const std::vector<Level>& levels, std::size_t number, Level& level) const {
  const std::vector<Field> under = under_patches(steps_[number].from_coarse, geometry_, levels[number - 1], level);
  const int axes = geometry_.axes();
  for (std::size_t p = 0; p < level.patches.size(); ++p) {
    if (!level.own(p)) continue;
    const Box inner = level.patches[p].box;
    Box rest = grown(inner, ghost_layers, axes);
    // The layers on the sides of each axis, then the rest between them.
    for (std::size_t a = static_cast<std::size_t>(axes); a-- > 0;) {
      Box low = rest, high = rest;
      low.hi[a] = rest.lo[a] = inner.lo[a];
      high.lo[a] = rest.hi[a] = inner.hi[a];
      interpolate(under[p], low, geometry_.ratio(), axes, level.density[p]);
      interpolate(under[p], high, geometry_.ratio(), axes, level.density[p]);
    }
  }
}

void Transfers::fill_ghosts(std::vector<Level>& levels) const {
  for (std::size_t l = 0; l < levels.size(); ++l) {
    if (l > 0) fill_from_coarse(levels, l, levels[l]);
    steps_[l].beside.run(sources(levels[l].density), targets(levels[l].density));
  }
}

void Transfers::average_down(std::vector<Level>& levels) const {
  for (std::size_t l = levels.size(); l-- > 1;) {
    std::vector<Field> means(levels[l].patches.size());
    for (std::size_t p = 0; p < means.size(); ++p) {
      if (!levels[l].own(p)) continue;
      means[p] =
          mean_of(levels[l].density[p], coarsened(levels[l].patches[p].box, geometry_.ratio()), geometry_.ratio());
    }
    steps_[l].to_coarse.run(sources(means), targets(levels[l - 1].density));
  }
}

void Transfers::average_fluxes(std::vector<Fluxes>& fluxes) const {
  for (std::size_t l = fluxes.size(); l-- > 1;) {
    for (std::size_t a = 0; a < static_cast<std::size_t>(geometry_.axes()); ++a) {
      const std::vector<Field>& fine = fluxes[l][a];
      std::vector<Field> means(fine.size());
      for (std::size_t p = 0; p < fine.size(); ++p) {
        if (fine[p].box().empty()) continue;
        Box cells = fine[p].box();
        --cells.hi[a];
        means[p] = mean_of(fine[p], faces_of(coarsened(cells, geometry_.ratio()), a), geometry_.ratio(), a);
      }
      steps_[l].fluxes[a].run(sources(means), targets(fluxes[l - 1][a]));
    }
  }
}

}  // namespace advection
