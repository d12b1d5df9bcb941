#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cosmology/halos/finder/profile.hpp"
#include "sidestream/kit/analysis/common_options.hpp"

namespace sidestream::halos {
namespace {

/// Shells as configured.
struct Shells {
  std::vector<double> ends{};
  double unit = 1;
  int bins = 0;
  bool logarithmic = false;
};

OptionTable<Shells> shell_options(double shortest) {
  return {
      option("radius", &Shells::ends,
             "Radius of the outermost shell, or the inner radius of the innermost shell and that. With one radius, the "
             "innermost shell begins at 0, or, on a logarithmic scale, at a hundredth of it.",
             {.required = true, .least_entries = 1, .most_entries = 2}),
      option<OptionType::choice>(
          "units", &Shells::unit,
          "Units of `radius`: `length`, those of the mesh's coordinates, or `cells`, the shortest side of a cell (of "
          "the coarsest level).",
          {.standard = "length", .choices = {{"length", 1}, {"cells", shortest}}}),
      option("bins", &Shells::bins, "Number of shells.", {.standard = 20, .minimum = 1, .maximum = 10000}),
      option<OptionType::choice>("scale", &Shells::logarithmic,
                                 "`linear`: shells of equal width. `logarithmic`: radii with equal ratios.",
                                 {.standard = "linear", .choices = {{"linear", false}, {"logarithmic", true}}})};
}

std::vector<double> read_edges(const Settings& settings, double shortest) {
  auto [ends, unit, bins, logarithmic] = shell_options(shortest).read(settings);
  if (ends.size() == 1) ends.insert(ends.begin(), logarithmic ? ends[0] / 100 : 0);
  if (!(ends[0] >= 0) || !(ends[0] < ends[1]) || !std::isfinite(ends[1] * ends[1]) || (logarithmic && ends[0] == 0)) {
    settings.fail("radius", fmt::format("found {} to {}, expected finite radii, the lower one first and not below 0{}",
                                        ends[0], ends[1], logarithmic ? "; above 0 on a logarithmic scale" : ""));
  }
  std::vector<double> edges;
  for (int n = 0; n <= bins; ++n) {
    const double part = static_cast<double>(n) / bins;
    const double edge = n == 0        ? ends[0]
                        : n == bins   ? ends[1]
                        : logarithmic ? ends[0] * std::pow(ends[1] / ends[0], part)
                                      : ends[0] + part * (ends[1] - ends[0]);
    edges.push_back(edge * unit);
    if (n > 0 && !(edges[edges.size() - 2] < edges.back())) {
      settings.fail("bins",
                    fmt::format("{} shells from {} to {} are too narrow to be told apart", bins, ends[0], ends[1]));
    }
  }
  return edges;
}

std::vector<ProfileField> read_profile_fields(const Settings& settings, const Metadata& metadata,
                                              const Variable& density) {
  std::vector<ProfileField> fields;
  for (const std::int32_t id : read_fields(settings, density, metadata)) {
    const Variable& variable = metadata.variables.at(static_cast<std::size_t>(id));
    require_values_in_cells(settings, "fields", variable, metadata.mesh_of(variable), "`profile`");
    for (int c = 0; c < variable.components; ++c) {
      fields.push_back({id, c,
                        variable.components == 1 ? fmt::format("mean_{}", variable.name)
                                                 : fmt::format("mean_{}_{}", variable.name, c)});
    }
  }
  return fields;
}

void check_overdensities(const Settings& settings, const std::string& name, const Metadata&,
                         const ProfileQuery& query) {
  for (const double one : query.overdensities) {
    if (one > 0 && std::isfinite(one)) continue;
    settings.fail(name, fmt::format("found {}, expected numbers above 0", one));
  }
  if (!query.overdensities.empty() && !query.sphere) {
    settings.fail(name, "they count all that lies within a radius: expected `of: sphere`, found `of: halo`");
  }
}

void check_reference(const Settings& settings, const std::string& name, const Metadata&, const ProfileQuery& query) {
  if (!query.reference) return;
  if (query.overdensities.empty()) {
    settings.fail(name,
                  "found 'reference' without `overdensities`, which are multiples of it, expected both; "
                  "add them or remove this");
  }
  if (!(*query.reference > 0) || !std::isfinite(*query.reference)) {
    settings.fail(name, fmt::format("found the density {}, expected one above 0", *query.reference));
  }
}

OptionTable<ProfileQuery> centre_options() {
  using Query = ProfileQuery;
  return {
      option<OptionType::choice>("of", &Query::sphere,
                                 "The cells that count: all in the `sphere`, or only those of the `halo`.",
                                 {.standard = "sphere", .choices = {{"sphere", true}, {"halo", false}}}),
      option(
          "about", &Query::about,
          "The centre of the shells: the middle of the `peak`'s cell, the centroid weighted by the values (`mass`; "
          "the peak for halos without one), or the plain centroid (`centre`).",
          {.standard = "peak",
           .choices = {
               {"peak", Query::About::peak}, {"mass", Query::About::mass_centre}, {"centre", Query::About::centre}}})};
}

OptionTable<ProfileQuery> overdensity_options() {
  using Query = ProfileQuery;
  return {
      option("overdensities", &Query::overdensities,
             "For each of these numbers, such as 200, the table of halos gets two columns. `r_200` is the radius at "
             "which, going outwards, the mean density within first falls below 200 times `reference`; `mass_200` is "
             "the mass of a sphere of that density. Both are `nan` if the density does not fall below it between two "
             "of the shells' radii.")
          .then(check_overdensities),
      option("reference", &Query::reference,
             "The density of which overdensities are multiples, for example the critical density. Default: the mean of "
             "all finite values.")
          .then(check_reference)};
}

}  // namespace

OptionTable<ProfileQuery> profile_options(const Variable& density, double shortest) {
  using Query = ProfileQuery;
  const Option fields{.name = "fields",
                      .type = OptionType::variable,
                      .list = true,
                      .text = "Variables in the same cells, whose means, weighted by mass, are added to the table."};
  const auto edges = [=](const Settings& settings) { return read_edges(settings, shortest); };
  const auto means = [=](const Settings& settings, const Metadata& metadata, const Query&) {
    return read_profile_fields(settings, metadata, density);
  };
  OptionTable<Query> options{
      file_option(
          &Query::file, "halo-profiles-{index:05}.csv",
          "The table: a row for each shell of each halo with its `lower` and `upper` radius, the number of `cells` "
          "whose middle is in it, their `mass`, `density` (the mean of their values), `mass_within` the upper "
          "radius, `density_within` it, and the means of `fields`, weighted by mass."),
      pieces_option(&Query::pieces)};
  options.add(centre_options());
  options.add(options_read_by(edges, shell_options(shortest).declarations(), &Query::edges));
  options.add(options_read_by(means, {fields}, &Query::fields));
  return options.add(overdensity_options());
}

}  // namespace sidestream::halos
