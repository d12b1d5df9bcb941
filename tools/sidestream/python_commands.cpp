// Commands written in Python, like the libraries that they use: `export`, `plot`, `record`, `trace` and `watch`.
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

using Described = std::vector<std::pair<const char*, const char*>>;  ///< names with their texts

/// A command whose words are passed on.
struct PythonCommand {
  const char *name, *text, *packages;
  Described arguments;   ///< required, by place
  bool several = false;  ///< the last argument may be given several times
  Described values, flags{};
};

std::vector<PythonCommand> python_commands() {
  return {
      {"export",
       "Copy a database to files of NetCDF, Zarr, HDF5, VTK or AMReX, or a table to Parquet; with Python",
       "NumPy and h5py",
       {{"DIRECTORY", "The directory of a database, or a table"},
        {"TARGET",
         "The file to write, ending in .nc (NetCDF-4), .zarr, .h5, .pvd, .vtkhdf (VTK) or .amrex; for a table in "
         ".parquet"}},
       false,
       {{"--variables", "Names separated by commas (default: all)"},
        {"--iterations", "Numbers, FROM:TO or FROM:TO:STEP: 3,10:20,100::10"},
        {"--cycles", "Numbers of cycles, in the same form"},
        {"--time-units", "Units of NetCDF's time axis: 'seconds since 2000-01-01'"}},
       {{"--uncompressed", "Write without compression: larger, but faster"}}},
      {"plot",
       "Draw the chart of a table: a histogram, a spectrum, a mass function, halos over time, the times of runs; with "
       "Python",
       "NumPy, h5py and matplotlib",
       {{"TABLE",
         "A table that an analysis wrote: .csv, .pieces, .series, .h5 or .parquet; or the timings.csv of several runs, "
         "for one chart of all"}},
       true,
       {{"-o,--output", "The picture: .png, .pdf or .svg (default: the table's name with .png, if it is one)"},
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
        {"--range", "LOW,HIGH: values at both ends of the colour map"}}},
      {"watch",
       "Show a running or ended simulation on a page in the browser, from its output directory; with Python",
       "Starlette, uvicorn, plotly and PyYAML",
       {{"RESULTS", "The output directory, which may come later"}},
       false,
       {{"--port", "The port at 127.0.0.1 (default: a free one)"},
        {"--page", "FILE.html: write the page as one file instead of serving it"},
        {"--every", "With --page: seconds after which it is written again, until the run has ended"}},
       {{"--open", "Open the page in a browser of this machine"}, {"--read-only", "Show only; neither steer nor ask"}}},
      {"trace",
       "Write the times of a run as a trace for Perfetto or Chrome, and as metrics in OpenMetrics' text; with Python",
       "NumPy and PyYAML",
       {{"RESULTS", "The output directory of a run"}},
       false,
       {{"-o,--output", "The trace, JSON (default: trace.json in RESULTS)"},
        {"--metrics", "Write metrics into this file, too"},
        {"--iterations", "Only these, for the trace: numbers, FROM:TO or FROM:TO:STEP (3,10:20,100::10)"}}},
      {"record",
       "Describe the results of a run for archives: ro-crate-metadata.json beside them, after RO-Crate 1.1; with Python",
       "NumPy and PyYAML",
       {{"RESULTS", "The output directory of a run"}},
       false,
       {{"--citation", "CITATION.cff of the simulation, for its title, version and authors (default: that in RESULTS)"},
        {"--license", "Licence of the results: an address, or a name of the SPDX list such as CC-BY-4.0"},
        {"--name", "Title of the results (default: made of the run's date and placement)"},
        {"--description", "A sentence about the results"}},
       {{"--replace", "Replace the description that is there"}}}};
}

/// The words of a command that was given, as the package reads them.
std::vector<std::string> words_of(const PythonCommand& known, const CLI::App& given) {
  std::vector<std::string> words;
  for (const auto& [name, text] : known.values) {
    const std::string option = std::string(name).substr(std::string(name).find("--"));
    for (const std::string& value : given.get_option(option)->results()) words.push_back(option + "=" + value);
  }
  for (const auto& [name, text] : known.flags) {
    if (given.get_option(name)->count() > 0) words.emplace_back(name);
  }
  words.emplace_back("--");
  for (const auto& [name, text] : known.arguments) {
    const std::vector<std::string>& values = given.get_option(name)->results();
    words.insert(words.end(), values.begin(), values.end());
  }
  return words;
}

}  // namespace

void add_python_commands(CLI::App& app, Work& work) {
  for (const PythonCommand& known : python_commands()) {
    CLI::App* const command = app.add_subcommand(known.name, known.text);
    const auto add = [&](const char* name, const char* text) {
      return command
          ->add_option(
              name, [](const CLI::results_t&) { return true; }, text)
          ->type_name("TEXT");
    };
    for (const auto& [name, text] : known.arguments) add(name, text)->required();
    if (known.several) {
      command->get_option(known.arguments.back().first)
          ->expected(1, CLI::detail::expected_max_vector_size)
          ->allow_extra_args();
    }
    for (const auto& [name, text] : known.values) add(name, text)->allow_extra_args(false);
    for (const auto& [name, text] : known.flags) {
      const std::string described(text);  // CLI11 would take a literal for a variable
      command->add_flag(name, described);
    }
    command->callback(
        [=, &work] { work = [=]() -> int { become_python(known.name, words_of(known, *command), known.packages); }; });
  }
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
