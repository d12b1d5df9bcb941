// Options of a volume, and the transfer function that they describe.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sidestream/kit/analysis/common_options.hpp"
#include "visualisation/mesh/cells/block_cells.hpp"
#include "visualisation/mesh/field_source.hpp"
#include "visualisation/mesh/known_nodes.hpp"
#include "visualisation/render/volume.hpp"

namespace sidestream::rendering {
namespace {

constexpr double no_end = std::numeric_limits<double>::infinity();

/// Part of the domain's diagonal along which opacities are absorbed, unless `length` is given.
constexpr double part_of_diagonal = 0.01;

/// An opacity of 1 would be an infinite extinction, and so would a length of 0.
constexpr double most_opacity = 0.999999, least_length = 1e-100;

void require_volume(const Settings& settings, const Variable& variable, const Metadata& metadata) {
  require_cells_or_nodes(settings, "variable", variable, metadata);
  const Mesh& mesh = metadata.mesh_of(variable);
  const bool possible = mesh.axes() != nullptr || mesh.kind() == MeshKind::octree || has_coordinates(mesh);
  require_known_nodes(settings, "variable", mesh, variable.name);
  if (mesh.dimensions == 3 && possible) return;
  settings.fail("variable",
                fmt::format("'{}' lies on mesh '{}', which has {} dimensions and is of type '{}'; a volume needs a "
                            "mesh of three dimensions with cells",
                            variable.name, mesh.name, mesh.dimensions, mesh.geometry ? mesh.geometry->kind() : "none"));
}

void check_opacity(const Settings& settings, const VolumeQuery& query) {
  if (std::all_of(query.opacity.begin(), query.opacity.end(), [](double a) { return a == 0; })) {
    settings.fail("opacity", "found no opacity above 0, so nothing would be seen; write numbers from 0 to 1");
  }
  const std::vector<double>& values = query.values;
  if (!values.empty() && values.size() != query.opacity.size()) {
    settings.fail("values", fmt::format("found {} values for {} opacities; write one for each", values.size(),
                                        query.opacity.size()));
  }
  for (std::size_t n = 0; n < values.size(); ++n) {
    if (!std::isfinite(values[n]) || (n > 0 && !(values[n - 1] < values[n]))) {
      settings.fail("values", fmt::format("found {} as value {}; write finite numbers, each above the one before",
                                          values[n], n + 1));
    }
  }
}

/// The options; read_volume reads mesh-dependent ones.
const OptionTable<VolumeQuery>& volume_table() {
  using Query = VolumeQuery;
  static const OptionTable<Query> table{
      options_read_elsewhere<Query>(
          {variable_option("The variable that is shown. Its mesh has three dimensions and cells."),
           component_option("The variable's component, from 0; required if it has several.")}),
      option("opacity", &Query::opacity,
             "The part of the light that is absorbed along `length`: from 0, clear, to 1, opaque. The numbers belong "
             "to equally spaced values from the lower to the upper end of the range of colours, or to `values`, and "
             "are linear in between. With `scale: logarithmic` this holds for the logarithms of values, and values "
             "that are not above 0 are clear. `[0, 0, 0.1, 0.5]` shows high values only.",
             {.required = true, .minimum = 0, .maximum = 1, .least_entries = 2}),
      option("values", &Query::values,
             "The values to which the opacities belong, in ascending order; beyond them the first and the last "
             "opacity apply. With a fixed `range`, blocks in which all is clear are not moved.",
             {.least_entries = 2}),
      option("length", &Query::length,
             "The length along which `opacity` is absorbed, in the units of the mesh. Default: a hundredth of the "
             "domain's diagonal.",
             {.minimum = least_length, .range_text = "above 0"}),
      options_read_elsewhere<Query>(choice_options())};
  return table;
}

/// Values of the opacities. Over a logarithmic range their logarithms are equally spaced.
std::vector<double> places_of(const VolumeQuery& query, const ColourRange& range) {
  if (!query.values.empty()) return query.values;
  std::vector<double> places;
  const double last = static_cast<double>(query.opacity.size()) - 1;
  for (std::size_t n = 0; n < query.opacity.size(); ++n) {
    const double part = static_cast<double>(n) / last;
    places.push_back(range.is_logarithmic()
                         ? std::pow(10, range.low_power + part * (range.high_power - range.low_power))
                         : range.low + part * (range.high - range.low));
  }
  return places;
}

/// The intervals of values that are seen, without their ends: around each opacity above 0.
std::vector<std::array<double, 2>> seen_intervals(const VolumeQuery& query, const std::vector<double>& places) {
  std::vector<std::array<double, 2>> intervals;
  for (std::size_t n = 0; n < places.size(); ++n) {
    if (!(query.opacity[n] > 0)) continue;
    intervals.push_back({n > 0 ? places[n - 1] : -no_end, n + 1 < places.size() ? places[n + 1] : no_end});
  }
  return intervals;
}

}  // namespace

std::vector<Option> volume_options() { return volume_table().declarations(); }

VolumeQuery read_volume(const Settings& settings, const Metadata& metadata) {
  const Variable& variable = read_variable(settings, metadata);
  require_volume(settings, variable, metadata);
  VolumeQuery query = volume_table().read(settings);
  query.variable = variable.id;
  query.component = read_one_component(settings, variable);
  check_opacity(settings, query);
  query.choice = read_choice(settings, metadata.mesh_of(variable));
  return query;
}

void check_logarithms(const Settings& settings, const VolumeQuery& query) {
  if (query.values.empty() || query.values.front() > 0) return;
  settings.fail("values",
                fmt::format("found the value {} with `scale: logarithmic`, expected numbers above 0; raise it, "
                            "or leave `scale` out",
                            query.values.front()));
}

Selection selection_of(const VolumeQuery& query, const Metadata& metadata) {
  const Variable& variable = metadata.variables.at(static_cast<std::size_t>(query.variable));
  const Mesh& mesh = metadata.mesh_of(variable);
  if (has_coordinates(mesh)) {
    Selected selected(query.variable, halo_for_cells(mesh, variable, false), AllBlocks{});
    selected.wrap = selected.covered = false;
    return {{selected}};
  }
  const bool in_levels = has_levels(mesh);
  const bool in_cells = in_levels && variable.centering == Centering::cell;
  const int halo = in_cells ? 0 : std::max(1, halo_for(variable.centering, variable.centering, false));
  Selected selected(query.variable, halo, AllBlocks{});
  // An open range of colours depends on all values.
  if (query.range) {
    const RangeRequest of{query.variable, query.component};
    auto intervals = seen_intervals(query, places_of(query, *query.range));
    if (in_cells) {  // values are constant in a cell, so that its neighbours do not matter
      const auto seen = [intervals](const BlockSummary& block) {
        return std::any_of(intervals.begin(), intervals.end(),
                           [&](const auto& one) { return block.range.meets(one[0], one[1]); });
      };
      selected.part = BlockPredicate{seen, of};
    } else {
      selected.part = ValuesBracketed{{}, of, std::move(intervals)};
    }
  }
  selected.covered = !in_levels;
  selected.wrap = false;  // a volume ends at the mesh's faces
  return {{selected}};
}

TransferFunction function_of(const VolumeQuery& query, const ColourMap& map, const ColourRange& range,
                             const Domain& domain) {
  const double length = query.length.value_or(part_of_diagonal * domain.diagonal());
  const std::vector<double> places = places_of(query, range);
  std::vector<ExtinctionAt> points;
  for (std::size_t n = 0; n < places.size(); ++n) {
    points.push_back({places[n], -std::log1p(-std::min(query.opacity[n], most_opacity)) / length});
  }
  return {points, map, range};
}

}  // namespace sidestream::rendering
