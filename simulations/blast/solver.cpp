#include "solver.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include "problems.hpp"

namespace blast {

namespace {

// The mean of two slopes, limited to 1.5 times the smaller; 0 at extrema, so that there are no new ones.
double limit(double before, double after) {
  if (!(before * after > 0)) return 0;
  const double least = 1.5 * std::min(std::abs(before), std::abs(after));
  return std::copysign(std::min(least, 0.5 * std::abs(before + after)), before);
}

Values mirrored(Values w, std::size_t axis) {
  w[1 + axis] = -w[1 + axis];
  return w;
}

}  // namespace

template <class F>
void Solver::each(std::size_t count, const F& f) const {
  const auto threads = static_cast<std::size_t>(options_.threads);
  const auto part = [&](std::size_t thread) {
    for (std::size_t n = count * thread / threads; n < count * (thread + 1) / threads; ++n) f(n);
  };
  std::vector<std::jthread> others;  // the end of their life is the end of the loop
  for (std::size_t thread = 1; thread < threads; ++thread) others.emplace_back(part, thread);
  part(0);
}

Solver::Solver(MPI_Comm comm, const Options& options) : options_(options), gas_{options.gamma} {
  forest_ = std::make_unique<Forest>(comm, options.periodic(), options.least);
  begin(options);
}

Solver::Solver(MPI_Comm comm, const Options& options, const std::vector<Leaf>& leaves, std::vector<Values> values,
               Clock clock)
    : options_(options), gas_{options.gamma}, clock_(clock), values_(std::move(values)) {
  forest_ = std::make_unique<Forest>(comm, options.periodic(), leaves, values_);
}

// Level by level, so that fine structures are sampled finely.
void Solver::begin(const Options& options) {
  const Start start(options);
  for (int level = options.least;; ++level) {
    values_.clear();
    for (std::size_t n = 0; n < forest_->local(); ++n) {
      values_.push_back(gas_.conserved(start.gas(forest_->leaves()[n])));
    }
    if (level == options.most) break;
    see();
    std::vector<Mark> wanted = marks();
    for (std::size_t n = 0; n < wanted.size(); ++n) {
      if (wanted[n] == Mark::coarsen) wanted[n] = Mark::keep;
      if (start.finest(forest_->leaves()[n])) wanted[n] = Mark::refine;
    }
    forest_->adapt(wanted, options.least, options.most, values_, {}, [](const Values&) { return true; });
  }
  start.ignite(*forest_, values_);
}

void Solver::step() {
  if (clock_.step % options_.regrid == 0 && clock_.step > 0 && !options_.known()) adapt();
  see();
  const double left = options_.end - clock_.time;
  const double dt = std::min(length(), left);
  advance(dt);
  clock_.time = dt == left ? options_.end : clock_.time + dt;
  ++clock_.step;
  check();
}

void Solver::see() {
  states_.resize(forest_->leaves().size());
  each(forest_->local(), [&](std::size_t n) { states_[n] = gas_.primitive(values_[n]); });
  forest_->exchange(states_);
}

Solver::Beside Solver::beside(std::size_t leaf, std::size_t side) const {
  const auto& numbers = forest_->side(leaf, side);
  const auto other = [&](std::size_t part) {
    return forest_->beyond(side, forest_->faces()[static_cast<std::size_t>(numbers[part])]);
  };
  const std::int32_t first = other(0);
  if (first < 0) return {mirrored(states_[leaf], side / 2), 1};
  const auto state = [&](std::size_t part) { return states_[static_cast<std::size_t>(other(part))]; };
  if (numbers[1] < 0) {
    const bool coarser = forest_->leaves()[static_cast<std::size_t>(first)].level < forest_->leaves()[leaf].level;
    return {state(0), coarser ? 1.5 : 1.0};
  }
  const std::array<Values, 4> four{state(0), state(1), state(2), state(3)};
  Values mean;
  for (std::size_t n = 0; n < fields; ++n) mean[n] = 0.25 * ((four[0][n] + four[1][n]) + (four[2][n] + four[3][n]));
  return {mean, 0.75};
}

Solver::Traced Solver::trace(std::size_t leaf) const {
  Traced traced{states_[leaf], {}};
  if (options_.first_order) return traced;
  const Values& here = states_[leaf];
  for (std::size_t a = 0; a < 3; ++a) {
    const Beside low = beside(leaf, 2 * a), high = beside(leaf, 2 * a + 1);
    for (std::size_t n = 0; n < fields; ++n) {
      traced.slopes[a][n] = limit((here[n] - low.state[n]) / low.distance, (high.state[n] - here[n]) / high.distance);
    }
  }
  return traced;
}

double Solver::jump(std::size_t leaf) const {
  double most = 0;
  for (std::size_t side = 0; side < 6; ++side) {
    const Values other = beside(leaf, side).state;
    for (const std::size_t n : {std::size_t{0}, std::size_t{4}}) {
      most = std::max(most, std::abs(other[n] - states_[leaf][n]) / (other[n] + states_[leaf][n]));
    }
  }
  return most;
}

// A leaf next to one to be refined is refined as well: shocks arrive there before the next check.
std::vector<Mark> Solver::marks() const {
  const std::size_t local = forest_->local();
  std::vector<Mark> own(forest_->leaves().size());
  for (std::size_t n = 0; n < local; ++n) {
    const double found = jump(n);
    own[n] = found > options_.refine ? Mark::refine : found < 0.25 * options_.refine ? Mark::coarsen : Mark::keep;
  }
  forest_->exchange(own);
  std::vector<Mark> wanted(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(local));
  for (const Face& face : forest_->faces()) {
    if (face.low < 0 || face.high < 0) continue;
    const auto low = static_cast<std::size_t>(face.low), high = static_cast<std::size_t>(face.high);
    if (low < local) wanted[low] = std::max(wanted[low], own[high]);
    if (high < local) wanted[high] = std::max(wanted[high], own[low]);
  }
  return wanted;
}

void Solver::adapt() {
  see();
  const std::vector<Mark> wanted = marks();
  std::vector<std::array<Values, 3>> slopes(forest_->local());
  for (std::size_t leaf = 0; leaf < slopes.size() && !options_.first_order; ++leaf) {
    for (std::size_t a = 0; a < 3; ++a) {
      const Beside low = beside(leaf, 2 * a), high = beside(leaf, 2 * a + 1);
      const Values before = gas_.conserved(low.state), after = gas_.conserved(high.state);
      for (std::size_t n = 0; n < fields; ++n) {
        slopes[leaf][a][n] =
            limit((values_[leaf][n] - before[n]) / low.distance, (after[n] - values_[leaf][n]) / high.distance);
      }
    }
  }
  forest_->adapt(wanted, options_.least, options_.most, values_, slopes,
                 [this](const Values& u) { return possible(gas_.primitive(u)); });
}

// The same on all ranks.
double Solver::length() const {
  double shortest = 1e300;
  for (std::size_t n = 0; n < forest_->local(); ++n) {
    const Values& w = states_[n];
    const double speed = std::abs(w[1]) + std::abs(w[2]) + std::abs(w[3]) + 3 * gas_.sound_speed(w);
    shortest = std::min(shortest, forest_->leaves()[n].size() / speed);
  }
  MPI_Allreduce(MPI_IN_PLACE, &shortest, 1, MPI_DOUBLE, MPI_MIN, forest_->comm());
  return options_.cfl * shortest;
}

// Advances to the middle of the step; `part`: the half step over the leaf's size. Drops the slopes where a corner of
// the leaf would become unphysical, before or after.
void Solver::halve(Traced& traced, double part) const {
  const Values change = gas_.rate(traced.middle, traced.slopes);
  Traced later = traced;
  for (std::size_t n = 0; n < fields; ++n) later.middle[n] += part * change[n];
  bool good = true;
  for (const std::size_t n : {std::size_t{0}, std::size_t{4}}) {
    const auto& s = traced.slopes;
    const double corner = 0.5 * (std::abs(s[0][n]) + std::abs(s[1][n]) + std::abs(s[2][n]));
    good = good && later.middle[n] > corner && traced.middle[n] > corner;
  }
  traced = good ? later : Traced{traced.middle, {}};
}

Values Solver::at_face(std::int32_t leaf, const Face& face, bool is_low) const {
  const Traced& traced = traced_[static_cast<std::size_t>(leaf)];
  const auto axis = static_cast<std::size_t>(face.axis);
  const int part = is_low ? face.part_low : face.part_high;
  Values w = traced.middle;
  for (std::size_t n = 0; n < fields; ++n) w[n] += (is_low ? 0.5 : -0.5) * traced.slopes[axis][n];
  if (part < 0) return w;
  const std::size_t first = axis == 0 ? 1 : 0, second = axis == 2 ? 1 : 2;
  for (std::size_t n = 0; n < fields; ++n) {
    w[n] += ((part & 1) != 0 ? 0.25 : -0.25) * traced.slopes[first][n];
    w[n] += ((part & 2) != 0 ? 0.25 : -0.25) * traced.slopes[second][n];
  }
  return w;
}

Values Solver::through(const Face& face) const {
  const auto axis = static_cast<std::size_t>(face.axis);
  if (face.low < 0) {
    const Values w = at_face(face.high, face, false);
    return gas_.flux(mirrored(w, axis), w, face.axis);
  }
  const Values low = at_face(face.low, face, true);
  return gas_.flux(low, face.high < 0 ? mirrored(low, axis) : at_face(face.high, face, false), face.axis);
}

void Solver::advance(double dt) {
  const std::vector<Leaf>& leaves = forest_->leaves();
  traced_.resize(leaves.size());
  each(forest_->local(), [&](std::size_t n) {
    traced_[n] = trace(n);
    if (!options_.first_order) halve(traced_[n], 0.5 * dt / leaves[n].size());
  });
  forest_->exchange(traced_);
  fluxes_.resize(forest_->faces().size());
  each(fluxes_.size(), [&](std::size_t n) { fluxes_[n] = through(forest_->faces()[n]); });
  each(forest_->local(), [&](std::size_t leaf) {
    const double part = dt / leaves[leaf].size();
    // Four small faces in pairs, and inflow minus outflow: where the gas is uniform, nothing changes by a single bit.
    const auto side = [&](std::size_t number, std::size_t n) {
      const auto& faces = forest_->side(leaf, number);
      const auto of = [&](std::size_t p) { return fluxes_[static_cast<std::size_t>(faces[p])][n]; };
      return faces[1] < 0 ? of(0) : 0.25 * ((of(0) + of(1)) + (of(2) + of(3)));
    };
    for (std::size_t n = 0; n < fields; ++n) {
      const double x = side(1, n) - side(0, n), y = side(3, n) - side(2, n), z = side(5, n) - side(4, n);
      values_[leaf][n] -= part * ((x + y) + z);
    }
  });
}

void Solver::check() const {
  int good = 1;
  for (const Values& u : values_) {
    if (!possible(gas_.primitive(u))) good = 0;
  }
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, forest_->comm());
  if (good != 0) return;
  throw UserError("step " + std::to_string(clock_.step) +
                  ": a cell has no density or pressure greater than 0 any more; give a smaller --cfl than " +
                  std::to_string(options_.cfl) + ", or --first-order.");
}

}  // namespace blast
