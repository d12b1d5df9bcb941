// Mass function: numbers of halos by mass.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "cosmology/halos/finder/halo_options.hpp"
#include "sidestream/extend/task.hpp"
#include "sidestream/kit/analysis/chart.hpp"

namespace sidestream::halos {

struct MassFunction {
  std::string file;
  int bins = 20;
  std::optional<std::array<double, 2>> range;
  std::optional<ChartFile> chart;
};

/// The options of `mass_function`. Reading throws Error(configuration).
[[nodiscard]] OptionTable<MassFunction> mass_function_options();

/// Counts all servers' halos by mass, and writes the table and the chart. Collective. `mine`: masses of this server's
/// halos, as in the table of halos; `volume`: of the whole mesh; `name`: of the variable.
void write_mass_function(const MassFunction& how, const std::vector<double>& mine, double volume,
                         const std::string& name, const CombineInput& input);

}  // namespace sidestream::halos
