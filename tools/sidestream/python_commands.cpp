// Commands written in Python, like the libraries that they use: `export`, `plot` and `watch`.
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <utility>
#include <vector>

#include "base/paths.hpp"
#include "commands.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream {

namespace {

/// Replaces this process by `python -m sidestream COMMAND ARGUMENTS...`, with the package built along with this
/// program. Does not return if there is an interpreter; throws Error(system) if not. `packages`: the Python packages
/// that the command needs.
[[noreturn]] void become_python(const std::string& command, const std::vector<std::string>& arguments,
                                const std::string& packages) {
  const std::string python = python_interpreter(), path = python_path();
  if (!path.empty()) ::setenv("PYTHONPATH", path.c_str(), 1);
  std::vector<std::string> words{python, "-m", "sidestream", command};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(python.c_str(), pointers.data());
  fail(Code::system,
       "{}: it is written in Python, and '{}' cannot be run ({}); name an interpreter with {} in SIDESTREAM_PYTHON",
       command, python, system_text(errno), packages);
}

std::vector<std::string> words_of(const ExportOptions& options) {
  std::vector<std::string> words;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.push_back(std::string(name) + "=" + value);
  };
  add("--variables", options.variables);
  add("--iterations", options.iterations);
  add("--cycles", options.cycles);
  add("--time-units", options.time_units);
  if (options.uncompressed) words.emplace_back("--uncompressed");
  words.insert(words.end(), {"--", options.directory, options.target});
  return words;
}

constexpr std::pair<const char*, const char*> texts[] = {
    {"-o,--output", "The picture: .png, .pdf or .svg (default: the table's name with .png, if it is one)"},
    {"--names", "Names of several runs, separated by commas (default: what the paths of their tables differ in)"},
    {"--size", "Width and height in pixels, with 100 per inch (default: 1024x768)"},
    {"--log", "Logarithmic axes: none, x, y or xy (default: what suits the table)"},
    {"--iteration", "The iteration in a table of several (default: the last)"},
    {"--quantity", "The column: power or dimensionless; count, weight or density; above or dn_dlog10m"},
    {"--caption", "The title; empty for none"},
    {"--label", "Beginning of the default caption"},
    {"--x-label", "Label of the horizontal axis, instead of its name"},
    {"--y-label", "Label of the vertical axis, instead of its name"},
    {"--tracks", "Number of halo tracks that are drawn, the heaviest ones (default: 24)"},
    {"--colours", "The colour map of a 2-D histogram (default: viridis)"},
    {"--colour-scale", "Scale of colours of a 2-D histogram: linear or logarithmic (default: linear)"},
    {"--range", "LOW,HIGH: values at both ends of the colour map"}};

constexpr const char* watched_directory = "RESULTS";
constexpr const char* watch_values[] = {"--port", "--page", "--every"};
constexpr std::pair<const char*, const char*> watch_flags[] = {{"--open", "Open the page in a browser of this machine"},
                                                               {"--read-only", "Show only; neither steer nor ask"}};

}  // namespace

void export_database(const ExportOptions& options) { become_python("export", words_of(options), "NumPy and h5py"); }

CLI::App* add_plot(CLI::App& app, PlotOptions& options) {
  CLI::App* command = app.add_subcommand(
      "plot",
      "Draw the chart of a table: a histogram, a spectrum, a mass function, halos over time, the times of runs; with "
      "Python");
  command
      ->add_option("TABLE", options.tables,
                   "A table that an analysis wrote: .csv, .pieces, .series, .h5 or .parquet; or the timings.csv of "
                   "several runs, for one chart of all")
      ->required();
  for (const auto& [name, text] : texts) {
    command->add_option(name, options.values[name], text)->allow_extra_args(false);
  }
  return command;
}

void plot(const CLI::App& command, const PlotOptions& options) {
  std::vector<std::string> arguments;
  for (const auto& [name, text] : texts) {
    const std::string given(name);
    const std::string option = given.substr(given.find("--"));
    if (command.get_option(option)->count() == 0) continue;
    arguments.push_back(option + "=" + options.values.at(given));
  }
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), options.tables.begin(), options.tables.end());
  become_python("plot", arguments, "NumPy, h5py and matplotlib");
}

CLI::App* add_watch(CLI::App& app, WatchOptions& options) {
  CLI::App* command = app.add_subcommand(
      "watch", "Show a running or ended simulation on a page in the browser, from its output directory; with Python");
  command->add_option(watched_directory, options[watched_directory], "The output directory, which may come later")
      ->required();
  const auto add = [&](const char* name, const char* text) {
    command->add_option(name, options[name], text)->allow_extra_args(false);
  };
  add("--port", "The port at 127.0.0.1 (default: a free one)");
  add("--page", "FILE.html: write the page as one file instead of serving it");
  add("--every", "With --page: seconds after which it is written again, until the run has ended");
  for (const auto& [name, text] : watch_flags) {
    const std::string description(text);
    command->add_flag(name, description);
  }
  return command;
}

void watch(const CLI::App& command, const WatchOptions& options) {
  std::vector<std::string> arguments;
  for (const char* const name : watch_values) {
    if (command.get_option(name)->count() > 0) arguments.push_back(std::string(name) + "=" + options.at(name));
  }
  for (const auto& [name, text] : watch_flags) {
    if (command.get_option(name)->count() > 0) arguments.emplace_back(name);
  }
  arguments.insert(arguments.end(), {"--", options.at(watched_directory)});
  become_python("watch", arguments, "Starlette, uvicorn, plotly and PyYAML");
}

namespace {

/// A heading and the text up to the next heading that is not below it.
struct ManualPart {
  std::size_t depth = 0;  ///< number of '#'
  std::string title, text;
};

std::vector<ManualPart> parts_of(const std::string& manual) {
  std::vector<ManualPart> parts;
  std::istringstream lines(manual);
  bool code = false;  // in an example a '#' begins a comment
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) code = !code;
    const std::size_t depth = code ? 0 : std::min(line.find_first_not_of('#'), line.size());
    if (depth > 0) parts.push_back({depth, line.substr(std::min(depth + 1, line.size())), {}});
    for (ManualPart& part : parts) {
      if (&part == &parts.back() || part.depth == 0) continue;
      if (depth > 0 && depth <= part.depth) part.depth = 0;  // end of the part
    }
    for (ManualPart& part : parts) {
      if (part.depth > 0) part.text += line + "\n";
    }
  }
  return parts;
}

}  // namespace

std::string reference_part(const std::string& manual, const std::string& name) {
  const std::vector<ManualPart> parts = parts_of(manual);
  const std::string title = name == "options" ? "Options of every analysis and output" : name;
  std::string found;
  std::vector<std::string> known{"options"};
  for (const ManualPart& part : parts) {
    if (part.title == title) found += part.text;
    if (part.title.find(' ') == std::string::npos) known.push_back(part.title);
  }
  if (found.empty()) {
    fail(Code::usage, "the reference has no part '{}'; {}", name, suggestion(name, known, "it has " + listed(known)));
  }
  found.erase(found.find_last_not_of('\n') + 2);
  return found;
}

}  // namespace sidestream
