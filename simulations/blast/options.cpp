#include "options.hpp"

#include <CLI/CLI.hpp>
#include <map>

#include "mini_app/parsing.hpp"

namespace blast {

namespace {

const std::map<std::string, Problem> problems{{"sedov", Problem::sedov},           {"octant", Problem::octant},
                                              {"turbulence", Problem::turbulence}, {"shear", Problem::shear},
                                              {"uniform", Problem::uniform},       {"wave", Problem::wave}};

void declare_problem(CLI::App& app, Options& o) {
  app.add_option(
         "problem", o.problem,
         "sedov: a blast in the middle of a periodic cube; octant: an eighth of it, between mirrors; turbulence: "
         "random eddies that decay; shear: streams of two densities that roll up; uniform: a flow that stays as it is; "
         "wave: one whose density swings along the diagonal, by 0.2, carried along with a speed of 1 on each axis")
      ->transform(CLI::CheckedTransformer(problems));
  app.add_option("--least", o.least, "Level of the largest cells; there are 2^LEVEL along an edge")
      ->check(CLI::Range(1, 16));
  app.add_option("--most", o.most, "Level of the smallest cells")->check(CLI::Range(1, 16));
  app.add_option("--gamma", o.gamma, "Ratio of specific heats")->check(CLI::Range(1.01, 10.0));
  app.add_option("--radius", o.radius, "Radius of the ball that a blast's energy is put in, in smallest cells")
      ->check(CLI::Range(1.0, 1e6));
  app.add_option("--mach", o.mach, "Turbulence: rms speed over sound speed")->check(CLI::PositiveNumber);
  app.add_option("--seed", o.seed, "Turbulence: another number, other eddies");
  app.add_option("--width", o.width, "Shear: thickness of the layers between the streams")
      ->check(CLI::Range(1e-3, 0.1));
}

void declare_method(CLI::App& app, Options& o) {
  app.add_option("--end", o.end, "Time to stop at")->check(CLI::NonNegativeNumber);
  app.add_option("--steps", o.steps, "Steps to stop after")->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40));
  app.add_option("--cfl", o.cfl, "Length of time steps, of the largest that is stable")->check(CLI::Range(0.01, 1.0));
  app.add_option("--refine", o.refine, "Refine where density or pressure jump by this, |a - b| / (a + b)")
      ->check(CLI::Range(1e-6, 1.0));
  app.add_option("--regrid", o.regrid, "Steps from one change of the tree to the next")->check(CLI::Range(1, 1 << 20));
  app.add_flag("--first-order", o.first_order, "Godunov's method instead of MUSCL-Hancock");
  app.add_option("--threads", o.threads, "Threads of each rank; the results stay the same, bit for bit")
      ->check(CLI::Range(1, 1024));
}

void declare_output(CLI::App& app, Options& o) {
  app.add_option("--sidestream", o.sidestream, "Publish as this Sidestream configuration says");
  app.add_option("--every", o.every, "Publish every so many steps; the start is step 0")->check(CLI::Range(1, 1 << 30));
  app.add_option("--blocks", o.blocks, "Publish each rank's leaves as so many trees, of which analyses may need some")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--restart", o.restart,
                 "Go on after the newest whole checkpoint in this database, whatever number of ranks wrote it");
  app.add_option("--dump", o.dump, "Write the leaves at the end to one file");
  app.add_flag("--progress", o.progress, "Print a line per step");
  app.add_flag("--quiet", o.quiet, "Print nothing but errors");
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  Options options;
  CLI::App app("Blast: the Euler equations on an octree that follows the shocks.", "blast");
  declare_problem(app, options);
  declare_method(app, options);
  declare_output(app, options);
  return mini_app::parsed(app, arguments, options, [&] {
    if (options.most < options.least) {
      throw CLI::ValidationError("--most", "found " + std::to_string(options.most) + "; expected at least --least, " +
                                               std::to_string(options.least));
    }
  });
}

}  // namespace blast
