#include "simulation.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>

#include "decomposition.hpp"
#include "dump.hpp"
#include "input.hpp"

namespace oscillators {

namespace {

// Adds the seconds since the last call (or its creation) to a counter.
class Stopwatch {
 public:
  void lap(double& seconds) {
    const double now = MPI_Wtime();
    seconds += now - last_;
    last_ = now;
  }

 private:
  double last_ = MPI_Wtime();
};

// Adds ghost layers, which end at the domain's boundary: no neighbour owns points beyond it.
Box with_ghosts(Box box, int layers, const Box& limits) {
  for (int axis = 0; axis < 3; ++axis) {
    box.lo[axis] = std::max(box.lo[axis] - layers, limits.lo[axis]);
    box.hi[axis] = std::min(box.hi[axis] + layers, limits.hi[axis]);
  }
  return box;
}

std::vector<double> amplitudes_at(const std::vector<Oscillator>& oscillators, double time) {
  std::vector<double> amplitudes;
  for (const Oscillator& o : oscillators) amplitudes.push_back(amplitude(o, time));
  return amplitudes;
}

}  // namespace

Simulation::Simulation(const Options& options, std::vector<Oscillator> oscillators, Coupling& coupling)
    : options_(options), oscillators_(std::move(oscillators)), coupling_(coupling), comm_(coupling.comm()) {
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &ranks_);
  blocks_ = options_.blocks > 0 ? options_.blocks : ranks_;
  add_parts();
  // The coupling's first collective call: from here on a failure is one on all ranks.
  coupling_.declare(options_, patches_);
  if (rank_ == 0 && !options_.quiet) {
    const auto& n = options_.grid.cells;
    std::printf("oscillators: %lld x %lld x %lld cells in %lld block%s on %d rank%s, %zu oscillators, %d steps\n",
                static_cast<long long>(n[0]), static_cast<long long>(n[1]), static_cast<long long>(n[2]),
                static_cast<long long>(blocks_), blocks_ == 1 ? "" : "s", ranks_, ranks_ == 1 ? "" : "s",
                oscillators_.size(), options_.steps);
    std::fflush(stdout);
  }
}

void Simulation::add_parts() {
  const Grid& grid = options_.grid;
  const Index3 layout = near_cubic(blocks_, grid.cells);
  const Share share = share_of(rank_, ranks_, blocks_);
  const std::size_t element = options_.element == Element::float32 ? sizeof(float) : sizeof(double);
  for (std::int64_t id = share.first; id < share.last; ++id) {
    Patch patch{id, block_cells(id, layout, grid.cells), {}};
    patch.allocated = with_ghosts(grid.points(patch.cells), options_.ghosts, grid.points());
    const auto bytes = element * static_cast<std::size_t>(patch.allocated.count());
    patches_.push_back(patch);
    parts_.push_back({patch, Field(grid, patch.allocated, oscillators_), std::vector<std::byte>(bytes)});
  }
}

int Simulation::run() {
  std::unique_ptr<Dump> dump;
  if (!options_.dump.empty()) dump = std::make_unique<Dump>(comm_, options_.dump, options_);
  if (!options_.times.empty())
    mini_app::write_times(comm_, options_.times, {});  // fails now if it would fail at the end
  const int first = first_step();
  MPI_Barrier(comm_);
  began_ = MPI_Wtime();
  Verdict verdict = Verdict::go_on;
  std::string failure;
  for (int number = first; number < options_.steps && verdict == Verdict::go_on; ++number) {
    StepTimes times;
    times.start = MPI_Wtime() - began_;
    try {
      step(number, times);
    } catch (const std::exception& error) {
      failure = error.what();
      verdict = Verdict::failed;
    }
    times_.push_back(times);
    if (rank_ == 0 && options_.progress) {
      std::printf("step %d of %d\n", number + 1, options_.steps);
      std::fflush(stdout);
    }
    // The only collective call of a step. Codes have one anyway, for the length of the next time step.
    verdict = agree(comm_, verdict);
    if (dump && verdict != Verdict::failed) dump->add(patches_, values());
  }
  return finish(verdict, failure);
}

// The first step. A step of this program does not need the last one, so continuing proves nothing; the restored values
// are compared instead.
int Simulation::first_step() {
  if (options_.restart.empty()) return 0;
  std::vector<std::vector<std::byte>> restored;
  std::vector<void*> data;
  for (const Part& part : parts_) data.push_back(restored.emplace_back(part.own.size()).data());
  const int number = restore(comm_, options_, patches_, data);
  for (Part& part : parts_) part.data = part.own.data();
  compute(number * options_.dt);
  for (std::size_t n = 0; n < parts_.size(); ++n) check_restored(parts_[n], restored[n], number);
  if (rank_ == 0 && !options_.quiet) {
    std::printf("restarted after step %d on %d rank%s, every bit as it was\n", number, ranks_, ranks_ == 1 ? "" : "s");
    std::fflush(stdout);
  }
  return number + 1;
}

void Simulation::check_restored(const Part& part, const std::vector<std::byte>& restored, int number) const {
  const Box owned = options_.grid.points(part.patch.cells);
  const Box& all = part.patch.allocated;
  const std::size_t element = options_.element == Element::float32 ? sizeof(float) : sizeof(double);
  const auto line = element * static_cast<std::size_t>(owned.hi[0] - owned.lo[0]);
  for (std::int64_t k = owned.lo[2]; k < owned.hi[2]; ++k) {
    for (std::int64_t j = owned.lo[1]; j < owned.hi[1]; ++j) {
      const std::int64_t at = ((k - all.lo[2]) * (all.hi[1] - all.lo[1]) + j - all.lo[1]) * (all.hi[0] - all.lo[0]) +
                              owned.lo[0] - all.lo[0];
      const auto offset = static_cast<std::size_t>(at) * element;
      if (std::memcmp(part.own.data() + offset, restored.data() + offset, line) == 0) continue;
      throw UserError("the checkpoint's step " + std::to_string(number) +
                      " is not what this program computes for it; give --dt, --size and the oscillators of that run.");
    }
  }
}

void Simulation::step(int number, StepTimes& times) {
  const double time = number * options_.dt;
  std::exception_ptr failure;
  Stopwatch watch;
  try {
    for (Part& part : parts_) {
      void* const lent = coupling_.memory(part.patch);
      part.data = lent != nullptr ? lent : part.own.data();
    }
    watch.lap(times.publish);
    compute(time);
    watch.lap(times.compute);
    for (const Part& part : parts_) coupling_.publish(part.patch, part.data);
  } catch (...) {
    failure = std::current_exception();  // the step still has to be ended, or other ranks would wait for it
  }
  watch.lap(times.publish);
  coupling_.end_step(number, time);
  watch.lap(times.end);
  if (failure) std::rethrow_exception(failure);
}

void Simulation::compute(double time) {
  // A real code advances its solution many times between two outputs.
  for (int left = options_.compute_repeat - 1; left >= 0; --left) {
    const double between = time - options_.dt * left / options_.compute_repeat;
    const std::vector<double> amplitudes = amplitudes_at(oscillators_, between);
    for (Part& part : parts_) evaluate(part, amplitudes);
  }
  if (options_.ghosts > 0 && !options_.ghosts_filled) {
    for (const Part& part : parts_) spoil_ghosts(part);
  }
}

void Simulation::evaluate(Part& part, const std::vector<double>& amplitudes) const {
  if (options_.element == Element::float32) {
    part.field.evaluate(amplitudes, static_cast<float*>(part.data));
  } else {
    part.field.evaluate(amplitudes, static_cast<double*>(part.data));
  }
}

void Simulation::spoil_ghosts(const Part& part) const {
  const Box owned = options_.grid.points(part.patch.cells);
  const Box& all = part.patch.allocated;
  std::size_t at = 0;
  for (std::int64_t k = all.lo[2]; k < all.hi[2]; ++k) {
    for (std::int64_t j = all.lo[1]; j < all.hi[1]; ++j) {
      for (std::int64_t i = all.lo[0]; i < all.hi[0]; ++i, ++at) {
        const bool inside = i >= owned.lo[0] && i < owned.hi[0] && j >= owned.lo[1] && j < owned.hi[1] &&
                            k >= owned.lo[2] && k < owned.hi[2];
        if (inside) continue;
        if (options_.element == Element::float32) {
          static_cast<float*>(part.data)[at] = std::numeric_limits<float>::quiet_NaN();
        } else {
          static_cast<double*>(part.data)[at] = std::numeric_limits<double>::quiet_NaN();
        }
      }
    }
  }
}

std::vector<const void*> Simulation::values() const {
  std::vector<const void*> data;
  for (const Part& part : parts_) data.push_back(part.data);
  return data;
}

int Simulation::finish(Verdict verdict, const std::string& failure) {
  if (verdict == Verdict::failed) {
    // The first of the failed ranks prints.
    int speaker = failure.empty() ? ranks_ : rank_;
    MPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, comm_);
    if (speaker == rank_) {
      std::fprintf(stderr, "oscillators: step %zu, rank %d: %s\n", times_.size() - 1, rank_, failure.c_str());
    }
    return 1;
  }
  if (!options_.times.empty()) mini_app::write_times(comm_, options_.times, times_);
  const std::string summary = describe_times(comm_, times_);
  if (rank_ == 0 && !options_.quiet) {
    if (verdict == Verdict::stop)
      std::printf("stopped by a signal after step %zu of %d\n", times_.size(), options_.steps);
    if (!summary.empty()) std::printf("%s\n", summary.c_str());
  }
  return 0;
}

}  // namespace oscillators
