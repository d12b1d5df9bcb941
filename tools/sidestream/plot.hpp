// The command `plot`, which draws the chart of a table and is written in Python.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace sidestream {

/// Values from the command line, by the names of the options and of the argument `table`.
struct PlotOptions {
  std::map<std::string, std::string> values;
};

/// Adds the command, which fills `options`.
CLI::App* add_plot(CLI::App& app, PlotOptions& options);
/// Replaces this process by `python -m sidestream plot`. Throws Error(system) if there is no interpreter.
[[noreturn]] void plot(const CLI::App& command, const PlotOptions& options);

}  // namespace sidestream
