#include "simulation.hpp"

#include <algorithm>
#include <cstdio>

namespace universe {

namespace {

/// Writes what `write` does on the first rank; an error is one on all.
template <typename Write>
void write_file(const Layout& layout, const std::string& option, const std::string& file, const Write& write) {
  int good = 1;
  if (layout.rank() == 0) {
    std::FILE* const out = std::fopen(file.c_str(), "wb");
    good = out != nullptr && write(out) ? 1 : 0;
    if (out != nullptr && std::fclose(out) != 0) good = 0;
  }
  MPI_Bcast(&good, 1, MPI_INT, 0, layout.comm());
  if (good == 0) {
    throw UserError(option + " " + file + ": the file cannot be written; name one in a writable directory.");
  }
}

/// By id: place, momentum, id as they lie in memory.
void write_particles(const State& state, const std::string& file) {
  const Particles all = gathered(state.layout(), state.particles());
  write_file(state.layout(), "--dump", file,
             [&](std::FILE* out) { return std::fwrite(all.data(), sizeof(Particle), all.size(), out) == all.size(); });
}

void write_spectrum(const State& state, const std::string& file) {
  const std::vector<Gravity::Bin> bins = state.gravity().spectrum(state.density());
  const double growth = state.options().cosmology.growth(state.scale_factor());
  write_file(state.layout(), "--spectrum", file, [&](std::FILE* out) {
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

}  // namespace

void simulate(const Options& options, Coupling& coupling) {
  const Layout layout(coupling.comm(), options.cells);
  State state = begin(options, layout, coupling.comm());
  coupling.declare(layout, options);
  if (options.restart.empty()) coupling.publish(state);
  const std::int64_t last = options.stop > 0 ? std::min<std::int64_t>(options.stop, options.steps) : options.steps;
  while (state.step() < last) {
    state.advance();
    if (options.progress) report(state);
    if (state.step() % options.every == 0) coupling.publish(state);
  }
  if (!options.dump.empty()) write_particles(state, options.dump);
  if (!options.spectrum.empty()) write_spectrum(state, options.spectrum);
  if (!options.quiet) report(state);
}

}  // namespace universe
