#include "simulation.hpp"

#include <algorithm>
#include <cstdio>

#include "energies.hpp"
#include "mini_app/output.hpp"
#include "mini_app/stop.hpp"
#include "mini_app/timing.hpp"
#include "mini_app/together.hpp"
#include "watch.hpp"

namespace universe {

namespace {

/// Writes particles by id: position, momentum and id as in memory.
void write_particles(const State& state, const std::string& file) {
  const Particles all = gathered(state.layout(), state.particles());
  mini_app::write_file(state.layout().comm(), "--dump", file, [&](std::FILE* out) {
    return std::fwrite(all.data(), sizeof(Particle), all.size(), out) == all.size();
  });
}

void write_spectrum(const State& state, const std::string& file) {
  const std::vector<Gravity::Bin> bins = state.gravity().spectrum(state.density());
  const double growth = state.options().cosmology.growth(state.scale_factor());
  mini_app::write_file(state.layout().comm(), "--spectrum", file, [&](std::FILE* out) {
    std::fprintf(out, "k,power,linear,modes\n");
    for (const Gravity::Bin& bin : bins) {
      std::fprintf(out, "%.9g,%.9g,%.9g,%.0f\n", bin.k, bin.power, bin.linear * growth * growth, bin.modes);
    }
    return std::ferror(out) == 0;
  });
}

void report(const State& state) {
  const Field& density = state.density();
  double densest = density.empty() ? 0 : *std::max_element(density.begin(), density.end());
  MPI_Allreduce(MPI_IN_PLACE, &densest, 1, MPI_DOUBLE, MPI_MAX, state.layout().comm());
  if (state.layout().rank() != 0) return;
  std::printf("step %lld, redshift %.4f: densest cell %.3f times the mean\n", static_cast<long long>(state.step()),
              state.redshift(), densest);
  std::fflush(stdout);
}

State begin(const Options& options, const Layout& layout, MPI_Comm comm) {
  if (options.restart.empty()) return {layout, options};
  Checkpoint found = restore(comm, options);
  if (layout.rank() == 0 && !options.quiet) {
    std::printf("restarted after step %lld\n", static_cast<long long>(found.step));
  }
  return {layout, options, std::move(found.particles), found.step};
}

/// Collective: writes the files at the end.
void finish(const Options& options, const State& state, bool stopped) {
  if (!options.dump.empty()) write_particles(state, options.dump);
  if (!options.spectrum.empty()) write_spectrum(state, options.spectrum);
  if (!options.quiet) report(state);
  if (stopped) {
    std::printf("stopped by a signal after step %lld of %d\n", static_cast<long long>(state.step()), options.steps);
  }
}

}  // namespace

void simulate(const Options& options, Coupling& coupling) {
  const Layout layout(coupling.comm(), options.cells);
  State state = begin(options, layout, coupling.comm());
  coupling.declare(layout, options);
  std::vector<mini_app::StepTimes> times;
  const double began = MPI_Wtime();
  const auto step = [&](bool advances, bool publishes) {
    Watch watch(began);
    mini_app::StepTimes& now = times.emplace_back();
    now.start = watch.start();
    if (advances) state.advance();
    watch.lap(now.compute);
    if (!publishes) return;
    coupling.publish(state);
    watch.lap(now.publish);
    mini_app::together(layout.comm(), [&] {
      coupling.end_iteration(state);
      watch.lap(now.end);
    });
  };
  std::vector<Energies> balance;
  const auto weigh = [&] {
    if (!options.energies.empty()) balance.push_back(energies(state));
  };
  if (options.restart.empty()) step(false, true);
  weigh();
  const std::int64_t last = options.stop > 0 ? std::min<std::int64_t>(options.stop, options.steps) : options.steps;
  while (state.step() < last && mini_app::agreed_verdict(layout.comm()) == 0) {
    step(true, (state.step() + 1) % options.every == 0);
    weigh();
    if (options.progress) report(state);
  }
  if (!options.energies.empty()) write_energies(layout, options.energies, balance);
  if (!options.times.empty()) mini_app::write_times(layout.comm(), options.times, times);
  finish(options, state, layout.rank() == 0 && state.step() < last);
}

}  // namespace universe
