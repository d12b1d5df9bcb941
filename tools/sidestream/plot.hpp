// The command `plot`, which draws the chart of a table; it is written in Python.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace sidestream {

/// Values by the names of options and of the table, as they were given.
struct PlotOptions {
  std::map<std::string, std::string> values;
};

/// Adds the command, which fills `options`.
CLI::App* add_plot(CLI::App& app, PlotOptions& options);
/// Becomes `python -m sidestream plot`. Throws Error(system) if there is no interpreter.
[[noreturn]] void plot(const CLI::App& command, const PlotOptions& options);

}  // namespace sidestream
