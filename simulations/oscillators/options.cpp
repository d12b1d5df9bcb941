#include "options.hpp"

#include <CLI/CLI.hpp>
#include <cmath>

#include "mini_app/parsing.hpp"

namespace oscillators {

namespace {

// Joins the numbers of `--grid 64 32 16` with commas, since the option could swallow the input file behind it.
std::vector<std::string> join_triples(const std::vector<std::string>& arguments) {
  std::vector<std::string> joined;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    joined.push_back(arguments[at]);
    if (arguments[at] != "--grid" && arguments[at] != "--size") continue;
    const auto number = [](const std::string& word) {
      return !word.empty() && word.find_first_not_of("0123456789.eE+-") == std::string::npos && word[0] != '-';
    };
    std::string triple;
    for (int n = 0; n < 3 && at + 1 < arguments.size() && number(arguments[at + 1]); ++n) {
      triple += (n > 0 ? "," : "") + arguments[++at];
    }
    if (!triple.empty()) joined.push_back(triple);
  }
  return joined;
}

template <class T>
std::array<T, 3> one_or_three(const std::vector<T>& values, const std::string& option) {
  if (values.size() == 1) return {values[0], values[0], values[0]};
  if (values.size() == 3) return {values[0], values[1], values[2]};
  throw CLI::ValidationError(option, "found " + std::to_string(values.size()) + " numbers; expected 1 or 3");
}

// Options that need conversion before they become part of Options.
struct Raw {
  std::vector<std::int64_t> grid{64};
  std::vector<double> size{1.0};
  std::string centering = "cell", ghost_values = "formula", type = "float64";
};

void declare_problem(CLI::App& app, Options& o, Raw& raw) {
  app.add_option("input", o.input, "File with lines 'type x y z radius omega0 [zeta]'");
  app.add_option("--grid", raw.grid, "Cells: N, or NX NY NZ")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--size", raw.size, "Lengths of the domain: L, or LX LY LZ")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--steps", o.steps, "Number of steps; the first is at time 0")->check(CLI::Range(0, 1 << 30));
  app.add_option("--dt", o.dt, "Time from one step to the next");
  app.add_option("--blocks", o.blocks, "Blocks over all ranks (default: one per rank)")->check(CLI::Range(1, 1 << 24));
  app.add_option("--ghosts", o.ghosts, "Ghost layers round each block")->check(CLI::Range(0, 64));
  app.add_option("--ghost-values", raw.ghost_values, "formula, or nan: leave them unfilled")
      ->check(CLI::IsMember({"formula", "nan"}));
  app.add_option("--centering", raw.centering, "cell or node")->check(CLI::IsMember({"cell", "node"}));
  app.add_option("--type", raw.type, "float32 or float64")->check(CLI::IsMember({"float32", "float64"}));
  app.add_option("--compute-repeat", o.compute_repeat,
                 "Evaluations per step, at times in between; only the last is kept. Makes a step as long as "
                 "a real one")
      ->check(CLI::Range(1, 1 << 20));
}

void declare_output(CLI::App& app, Options& o) {
  app.add_option("--sidestream", o.sidestream, "Publish every step as this Sidestream configuration says");
  app.add_flag("--in-place", o.in_place, "Compute in Sidestream's memory instead of publishing a copy");
  app.add_option("--restart", o.restart,
                 "Go on after the newest whole checkpoint in this database, whatever number of ranks wrote it");
  app.add_option("--times", o.times, "Write a CSV file with the seconds of every step and rank");
  app.add_option("--dump", o.dump, "Write the raw values of all steps to one file, i fastest");
  app.add_option("--generate", o.generate, "Print an input of so many oscillators and stop")
      ->check(CLI::Range(1, 1 << 20));
  app.add_flag("--progress", o.progress, "Print a line per step");
  app.add_flag("--quiet", o.quiet, "Print nothing but errors");
}

void finish(Options& o, const Raw& raw) {
  o.grid = Grid{one_or_three(raw.grid, "--grid"), one_or_three(raw.size, "--size"), raw.centering == "node"};
  o.ghosts_filled = raw.ghost_values == "formula";
  o.element = raw.type == "float32" ? Element::float32 : Element::float64;
  if (!std::isfinite(o.dt)) throw CLI::ValidationError("--dt", "expected a finite number");
  if (o.input.empty() && o.generate == 0) throw CLI::ValidationError("input", "a file with oscillators is required");
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  Options options;
  Raw raw;
  CLI::App app("Oscillators: a sum of Gaussians of varying strength on a grid, step by step.", "oscillators");
  declare_problem(app, options, raw);
  declare_output(app, options);
  return mini_app::parsed(app, join_triples(arguments), options, [&] { finish(options, raw); });
}

}  // namespace oscillators
