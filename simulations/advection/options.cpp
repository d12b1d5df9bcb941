#include "options.hpp"

#include <CLI/CLI.hpp>
#include <map>

#include "mini_app/parsing.hpp"

namespace advection {

namespace {

const std::map<std::string, Shape> shapes{{"gaussian", Shape::gaussian}, {"cylinder", Shape::cylinder}};
const std::map<std::string, Flow> flows{{"translation", Flow::translation}, {"swirl", Flow::swirl}};
const std::map<std::string, Limiter> limiters{{"central", Limiter::central}, {"minmod", Limiter::minmod}};

void declare_problem(CLI::App& app, Options& o) {
  app.add_option("shape", o.shape, "gaussian: smooth, 1 at its top; cylinder: 1 inside, with an edge")
      ->transform(CLI::CheckedTransformer(shapes));
  app.add_option("--flow", o.flow,
                 "translation: everything moves with the velocity (1, 0.5, 0.25); swirl: a vortex that turns back "
                 "half-way, so that all is again at --end as it was")
      ->transform(CLI::CheckedTransformer(flows));
  app.add_option("--dimensions", o.dimensions, "2 or 3")->check(CLI::Range(2, 3));
  app.add_option("--cells", o.cells, "Cells of level 0 along each axis")->check(CLI::Range(8, 1 << 20));
  app.add_option("--background", o.background, "Density where the shape is not");
  app.add_option("--end", o.end, "Time to stop at")->check(CLI::NonNegativeNumber);
  app.add_option("--steps", o.steps, "Steps to stop after")->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40));
}

void declare_method(CLI::App& app, Options& o) {
  app.add_option("--levels", o.levels, "Levels at most, level 0 included")->check(CLI::Range(1, 8));
  app.add_option("--ratio", o.ratio, "Cells of the next level along one: 2 or 4")->check(CLI::IsMember({2, 4}));
  app.add_option("--tile", o.tile, "Patches are made of tiles of so many cells along each axis")
      ->check(CLI::Range(4, 1 << 10));
  app.add_option("--largest", o.largest, "Cells along an axis of a patch, at most")->check(CLI::Range(4, 1 << 20));
  app.add_option("--efficiency", o.efficiency, "Share of a patch's tiles that are marked, at least")
      ->check(CLI::Range(0.01, 1.0));
  app.add_option("--buffer", o.buffer, "Cells round a marked one that are marked too")->check(CLI::Range(0, 1 << 10));
  app.add_option("--regrid", o.regrid, "Steps from one change of the patches to the next")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--refine", o.refine, "Refine where density changes by more over a cell")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--cfl", o.cfl, "Length of time steps, of the largest that is stable")->check(CLI::Range(0.01, 1.0));
  app.add_option("--limiter", o.limiter, "central: monotonised central slopes; minmod: the smaller one")
      ->transform(CLI::CheckedTransformer(limiters));
}

void declare_output(CLI::App& app, Options& o) {
  app.add_option("--sidestream", o.sidestream, "Publish as this Sidestream configuration says");
  app.add_option("--every", o.every, "Publish every so many steps; the start is step 0")->check(CLI::Range(1, 1 << 30));
  app.add_flag("--ghosts", o.ghosts, "Publish patches with two filled layers of cells round them");
  app.add_option("--restart", o.restart,
                 "Go on after the newest whole checkpoint in this database, whatever number of ranks wrote it");
  app.add_option("--dump", o.dump, "Write the cells of all levels at the end to one file");
  app.add_flag("--progress", o.progress, "Print a line per step");
  app.add_flag("--quiet", o.quiet, "Print nothing but errors");
}

void require(bool good, const char* option, int found, const std::string& expected) {
  if (!good) throw CLI::ValidationError(option, "found " + std::to_string(found) + "; expected " + expected);
}

void check(const Options& o) {
  require(o.tile % o.ratio == 0, "--tile", o.tile, "a multiple of --ratio, " + std::to_string(o.ratio));
  require(o.cells % o.tile == 0, "--cells", o.cells, "a multiple of --tile, " + std::to_string(o.tile));
  require(o.largest % o.tile == 0, "--largest", o.largest, "a multiple of --tile, " + std::to_string(o.tile));
  std::int64_t finest = o.cells;
  for (int level = 1; level < o.levels; ++level) finest *= o.ratio;
  require(finest < 1 << 30, "--levels", o.levels, "fewer: an axis would have " + std::to_string(finest) + " cells");
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  Options options;
  CLI::App app("Advection: a density that is carried along, on patches that follow it.", "advection");
  declare_problem(app, options);
  declare_method(app, options);
  declare_output(app, options);
  return mini_app::parsed(app, arguments, options, [&] { check(options); });
}

}  // namespace advection
