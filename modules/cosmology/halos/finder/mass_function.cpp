#include "cosmology/halos/finder/mass_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/reduce/bins/bins.hpp"
#include "sidestream/kit/reduce/words.hpp"

namespace sidestream::halos {
namespace {

/// Logarithm of a halo's mass; NaN for masses without one.
double log_of(double mass) {
  return mass > 0 && std::isfinite(mass) ? std::log10(mass) : std::numeric_limits<double>::quiet_NaN();
}

std::array<double, 2> range_of(const MassFunction& how, const std::vector<double>& masses, Communicator& servers) {
  if (how.range) return {std::log10((*how.range)[0]), std::log10((*how.range)[1])};
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double mass : masses) {
    if (std::isnan(mass)) continue;
    low = std::min(low, mass);
    high = std::max(high, mass);
  }
  servers.minimum({&low, 1});
  servers.maximum({&high, 1});
  if (low > high) return {0, 1};
  return {low, high};
}

Table table_of(const Bins& bins, const Words& counts, double volume) {
  const std::vector<double>& edges = bins.edges();
  const std::size_t n = edges.size() - 1;
  Table table{{"bin", "lower", "upper", "count", "above", "dn_dlog10m", "outside"}, {}};
  std::int64_t above = counts[n + 1];
  for (std::size_t b = 0; b < n; ++b) above += counts[b];
  const std::int64_t outside = counts[n] + counts[n + 1] + counts[n + 2];
  for (std::size_t b = 0; b < n; ++b) {
    const double density = static_cast<double>(counts[b]) / (volume * (edges[b + 1] - edges[b]));
    table.add_row({static_cast<std::int64_t>(b), std::pow(10.0, edges[b]), std::pow(10.0, edges[b + 1]), counts[b],
                   above, density, outside});
    above -= counts[b];
  }
  return table;
}

void check_masses(const Settings& settings, const std::string& name, const Metadata&, const MassFunction& how) {
  if (!how.range) return;
  const auto [low, high] = *how.range;
  if (low > 0 && low < high && std::isfinite(high)) return;
  settings.fail(name, fmt::format("found the range [{}, {}], expected two finite masses above 0, the lower one first",
                                  low, high));
}

}  // namespace

OptionTable<MassFunction> mass_function_options() {
  return {
      file_option(&MassFunction::file, "mass-function-{index:05}.csv",
                  "The table: `lower` and `upper` ends of the intervals, the `count` in each (the last with its upper "
                  "end), how many are `above` its lower end, `dn_dlog10m` by volume and width, and how many halos are "
                  "`outside` of all or have no positive mass."),
      option("bins", &MassFunction::bins, "Number of intervals.", {.standard = 20, .minimum = 1, .maximum = 100000}),
      option("range", &MassFunction::range,
             "Lowest and highest mass, above 0. Default: those of the iteration's halos.")
          .then(check_masses),
      option("image", &MassFunction::chart, "A chart of the number of halos in each interval, with logarithmic axes.",
             {.options = chart_options("{label}: halos by mass    time {time:#.5g}    cycle {cycle}")})};
}

void write_mass_function(const MassFunction& how, const std::vector<double>& mine, double volume,
                         const std::string& name, const CombineInput& input) {
  std::vector<double> masses;
  for (const double mass : mine) masses.push_back(log_of(mass));
  const auto [low, high] = range_of(how, masses, input.communicator);
  const Bins bins(low, high, how.bins);
  Words counts(static_cast<std::size_t>(how.bins) + 3, 0);
  for (const double mass : masses) ++counts[bins.slot(mass)];
  input.communicator.sum(counts);
  if (input.communicator.rank() != 0) return;
  input.results.add(how.file, table_of(bins, counts, volume));
  if (how.chart) draw_chart(*how.chart, how.file, name, {"--title=variable:" + name}, input);
}

}  // namespace sidestream::halos
