#include "options.hpp"

#include <CLI/CLI.hpp>

#include "mini_app/parsing.hpp"

namespace universe {

namespace {

void declare_matter(CLI::App& app, Options& o) {
  app.add_option("--particles", o.particles, "Of dark matter, along each axis")->check(CLI::Range(4, 4096));
  app.add_option("--cells", o.cells, "Of the grid, along each axis; as many as particles unless given")
      ->check(CLI::Range(4, 4096));
  app.add_option("--box", o.box, "Edge of the periodic cube, comoving Mpc/h")->check(CLI::PositiveNumber);
  app.add_option("--first", o.first, "Redshift at which particles are displaced")->check(CLI::NonNegativeNumber);
  app.add_option("--last", o.last, "Redshift at which the run ends")->check(CLI::NonNegativeNumber);
  app.add_option("--steps", o.steps, "From the first redshift to the last, equal in ln a")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--stop", o.stop, "Step to stop after, before the last one")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
  app.add_option("--order", o.order, "Of the displacements: 1 Zel'dovich's, 2 the second")->check(CLI::Range(1, 2));
  app.add_option("--seed", o.seed, "Another number, another universe");
  app.add_option("--wave", o.wave,
                 "One wave as long as the box, which first crosses itself at this redshift, instead of a random field")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--wave-axis", o.wave_axis, "Along which it goes: 0, 1, 2")->check(CLI::Range(0, 2));
}

void declare_cosmology(CLI::App& app, Options& o) {
  Cosmology& c = o.cosmology;
  app.add_option("--matter", c.matter, "Omega of all matter today")->check(CLI::Range(0.01, 1.0));
  app.add_option("--baryons", c.baryons, "Omega of baryons among it")->check(CLI::Range(0.001, 1.0));
  app.add_option("--hubble", c.hubble, "H0, 100 km/s/Mpc")->check(CLI::Range(0.1, 2.0));
  app.add_option("--tilt", c.tilt, "Of the primordial spectrum")->check(CLI::Range(0.0, 3.0));
  app.add_option("--sigma8", c.sigma8, "rms of linear density in balls of 8 Mpc/h today")->check(CLI::Range(0.01, 3.0));
  app.add_option("--warm", c.warm, "Mass of a particle of warm dark matter, keV; otherwise it is cold")
      ->check(CLI::Range(0.05, 1e3));
  app.add_option(
         "--filter", o.filter,
         "Length over which pressure smooths gas, comoving Mpc/h: its waves are matter's times exp(-k^2 filter^2)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--temperature", o.mean_temperature, "Of gas of mean density, K")->check(CLI::PositiveNumber);
  app.add_option("--gamma", o.slope, "T = temperature Delta^(gamma - 1)")->check(CLI::Range(0.1, 3.0));
  app.add_option("--ionisation", o.ionisation, "Rate of the background, of hydrogen, 1/s")->check(CLI::PositiveNumber);
}

void declare_output(CLI::App& app, Options& o) {
  app.add_option("--sidestream", o.sidestream, "Publish as this Sidestream configuration says");
  app.add_option("--every", o.every, "Publish every so many steps; the start is step 0")->check(CLI::Range(1, 1 << 30));
  app.add_option("--restart", o.restart,
                 "Go on after the newest whole checkpoint in this database, whatever number of ranks wrote it");
  app.add_option("--dump", o.dump, "Write the particles at the end to one file");
  app.add_option("--spectrum", o.spectrum, "Write the spectrum of matter at the end, with the linear one, as CSV");
  app.add_option("--energies", o.energies, "Write a CSV file with the energies and the momentum of matter by step");
  app.add_option("--times", o.times, "Write a CSV file with the seconds of every step and rank");
  app.add_flag("--progress", o.progress, "Print a line per step");
  app.add_flag("--quiet", o.quiet, "Print nothing but errors");
}

void check_together(Options& o) {
  if (o.last >= o.first) {
    throw CLI::ValidationError(
        "--last", "found " + std::to_string(o.last) + "; expected less than --first, " + std::to_string(o.first));
  }
  if (o.cosmology.baryons >= o.cosmology.matter) {
    throw CLI::ValidationError("--baryons", "found " + std::to_string(o.cosmology.baryons) +
                                                "; expected less than --matter, " + std::to_string(o.cosmology.matter));
  }
  if (o.cells == 0) o.cells = o.particles;
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  Options options;
  CLI::App app("Universe: dark matter in a periodic box of an expanding universe, by the particle-mesh method.",
               "universe");
  declare_matter(app, options);
  declare_cosmology(app, options);
  declare_output(app, options);
  return mini_app::parsed(app, arguments, options, [&] { check_together(options); });
}

}  // namespace universe
