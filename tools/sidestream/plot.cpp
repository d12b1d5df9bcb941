#include "plot.hpp"

#include <utility>
#include <vector>

#include "python_command.hpp"

namespace sidestream {

namespace {

constexpr const char* table = "TABLE";

constexpr std::pair<const char*, const char*> texts[] = {
    {"-o,--output", "The picture: .png, .pdf or .svg (default: the table's name with .png)"},
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

}  // namespace

CLI::App* add_plot(CLI::App& app, PlotOptions& options) {
  CLI::App* command = app.add_subcommand(
      "plot", "Draw the chart of a table: a histogram, a spectrum, a mass function, halos over time; with Python");
  command
      ->add_option(table, options.values[table],
                   "A table that an analysis wrote: .csv, .pieces, .series, .h5 or .parquet")
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
  arguments.insert(arguments.end(), {"--", options.values.at(table)});
  become_python("plot", arguments, "NumPy, h5py and matplotlib");
}

}  // namespace sidestream
