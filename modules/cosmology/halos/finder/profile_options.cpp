#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cosmology/halos/finder/profile.hpp"
#include "sidestream/kit/analysis/common_options.hpp"

namespace sidestream::halos {
namespace {

std::vector<double> read_edges(const Settings& settings, double shortest) {
  std::vector<double> ends = settings.reals("radius");
  const bool logarithmic = settings.text("scale") == "logarithmic";
  if (ends.size() == 1) ends.insert(ends.begin(), logarithmic ? ends[0] / 100 : 0);
  if (!(ends[0] >= 0) || !(ends[0] < ends[1]) || !std::isfinite(ends[1] * ends[1]) || (logarithmic && ends[0] == 0)) {
    settings.fail("radius", fmt::format("found {} to {}, expected finite radii, the lower one first and not below 0{}",
                                        ends[0], ends[1], logarithmic ? "; above 0 on a logarithmic scale" : ""));
  }
  const double unit = settings.text("units") == "cells" ? shortest : 1;
  const int bins = settings.integer<int>("bins");
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

std::vector<double> read_overdensities(const Settings& settings, bool sphere) {
  std::vector<double> all = settings.reals("overdensities");
  for (const double one : all) {
    if (one > 0 && std::isfinite(one)) continue;
    settings.fail("overdensities", fmt::format("found {}, expected numbers above 0", one));
  }
  if (!all.empty() && !sphere) {
    settings.fail("overdensities", "they count all that lies within a radius: expected `of: sphere`, found `of: halo`");
  }
  return all;
}

}  // namespace

Option profile_option() {
  Option option{
      .name = "profile",
      .type = OptionType::map,
      .text =
          "Profiles of halos: sums over the cells in spherical shells around each halo. On periodic meshes each cell "
          "counts at its nearest periodic image."};
  option.options = {
      file_option(
          "halo-profiles-{index:05}.csv",
          "The table: a row for each shell of each halo with its `lower` and `upper` radius, the number of `cells` "
          "whose middle is in it, their `mass`, `density` (the mean of their values), `mass_within` the upper "
          "radius, `density_within` it, and the means of `fields`, weighted by mass."),
      pieces_option(),
      {.name = "of",
       .type = OptionType::choice,
       .default_value = "sphere",
       .text = "The cells that count: all in the `sphere`, or only those of the `halo`.",
       .choices = {"sphere", "halo"}},
      {.name = "about",
       .type = OptionType::choice,
       .default_value = "peak",
       .text =
           "The centre of the shells: the middle of the `peak`'s cell, the centroid weighted by the values (`mass`; "
           "the peak for halos without one), or the plain centroid (`centre`).",
       .choices = {"peak", "mass", "centre"}},
      {.name = "radius",
       .type = OptionType::real,
       .list = true,
       .required = true,
       .text = "Radius of the outermost shell, or the inner radius of the innermost shell and that. With one radius, "
               "the innermost shell begins at 0, or, on a logarithmic scale, at a hundredth of it.",
       .least_entries = 1,
       .most_entries = 2},
      {.name = "units",
       .type = OptionType::choice,
       .default_value = "length",
       .text = "Units of `radius`: `length`, those of the mesh's coordinates, or `cells`, the shortest side of a cell "
               "(of the coarsest level).",
       .choices = {"length", "cells"}},
      {.name = "bins",
       .type = OptionType::integer,
       .default_value = "20",
       .text = "Number of shells.",
       .minimum = 1,
       .maximum = 10000},
      {.name = "scale",
       .type = OptionType::choice,
       .default_value = "linear",
       .text = "`linear`: shells of equal width. `logarithmic`: radii with equal ratios.",
       .choices = {"linear", "logarithmic"}},
      {.name = "fields",
       .type = OptionType::variable,
       .list = true,
       .text = "Variables in the same cells, whose means, weighted by mass, are added to the table."},
      {.name = "overdensities",
       .type = OptionType::real,
       .list = true,
       .text = "For each of these numbers, such as 200, the table of halos gets two columns. `r_200` is the radius at "
               "which, going outwards, the mean density within first falls below 200 times `reference`; `mass_200` is "
               "the mass of a sphere of that density. Both are `nan` if the density does not fall below it between two "
               "of the shells' radii."},
      {.name = "reference",
       .type = OptionType::real,
       .text =
           "The density of which overdensities are multiples, for example the critical density. Default: the mean of "
           "all finite values."}};
  return option;
}

std::optional<ProfileQuery> read_profile(const Settings& all, const Metadata& metadata, const Variable& density,
                                         double shortest) {
  if (!all.has("profile")) return std::nullopt;
  const Settings settings = all.map("profile");
  ProfileQuery query;
  query.file = settings.text("file");
  query.pieces = read_pieces(settings);
  query.sphere = settings.text("of") == "sphere";
  const std::string& about = settings.text("about");
  query.about = about == "peak"   ? ProfileQuery::About::peak
                : about == "mass" ? ProfileQuery::About::mass_centre
                                  : ProfileQuery::About::centre;
  query.edges = read_edges(settings, shortest);
  query.fields = read_profile_fields(settings, metadata, density);
  query.overdensities = read_overdensities(settings, query.sphere);
  if (settings.has("reference")) {
    if (query.overdensities.empty()) {
      settings.fail("reference",
                    "found 'reference' without `overdensities`, which are multiples of it, expected both; "
                    "add them or remove this");
    }
    query.reference = settings.real("reference");
    if (!(*query.reference > 0) || !std::isfinite(*query.reference)) {
      settings.fail("reference", fmt::format("found the density {}, expected one above 0", *query.reference));
    }
  }
  return query;
}

}  // namespace sidestream::halos
