#include "cosmology/halos/finder/halo_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/base/numbers.hpp"
#include "sidestream/kit/mesh/runs.hpp"
#include "sidestream/kit/reduce/exact_sum_forms.hpp"
#include "sidestream/kit/reduce/words.hpp"

namespace sidestream::halos {
namespace {

constexpr std::size_t mean_words = 2 * ExactSum::words;

void require_uniform(const Settings& settings, const Variable& variable, const Mesh& mesh, const std::string& what) {
  if (mesh.kind() != MeshKind::uniform) {
    settings.fail("variable",
                  fmt::format("'{}' lies on mesh '{}' of type '{}'; {} needs a uniform mesh, whose cells have "
                              "all the same volume",
                              variable.name, mesh.name, mesh.geometry ? mesh.geometry->kind() : "none", what));
  }
  require_values_in_cells(settings, "variable", variable, mesh, what);
  double cells = 1;
  for (int a = 0; a < 3; ++a) {
    cells *= static_cast<double>(mesh.cells.extent(a));
    if (mesh.cells.extent(a) < std::numeric_limits<std::int32_t>::max() / 4) continue;
    settings.fail("variable",
                  fmt::format("mesh '{}' has {} cells along an axis; {} counts up to {}", mesh.name,
                              mesh.cells.extent(a), what, std::numeric_limits<std::int32_t>::max() / 4 - 1));
  }
  if (cells >= 9.2e18) {
    settings.fail("variable", fmt::format("mesh '{}' has more cells than a linear index of 64 bits counts", mesh.name));
  }
}

}  // namespace

double Field::cell_volume() const noexcept {
  double volume = 1;
  for (std::size_t a = 0; a < static_cast<std::size_t>(lattice.dimensions); ++a) volume *= std::fabs(spacing[a]);
  return volume;
}

double Field::shortest() const noexcept {
  double least = std::fabs(spacing[0]);
  for (std::size_t a = 1; a < static_cast<std::size_t>(lattice.dimensions); ++a) {
    least = std::min(least, std::fabs(spacing[a]));
  }
  return least;
}

double Field::position(std::size_t axis, Index cell, double cells) const noexcept {
  double place = static_cast<double>(cell) + 0.5 + cells;
  if (lattice.periodic[axis]) {
    const auto n = static_cast<double>(lattice.size[axis]);
    if (place < 0) place += n;
    if (place >= n) place -= n;
  }
  return origin[axis] + spacing[axis] * (static_cast<double>(lattice.origin[axis]) + place);
}

std::vector<Option> field_options() {
  return {
      variable_option("The variable in which halos are found, such as a density. Its values must be in cells."),
      component_option("The variable's component, from 0; required if it has several."),
      {.name = "connectivity",
       .type = OptionType::choice,
       .default_value = "14",
       .text = "Which cells are neighbours, also across the faces of a periodic mesh: the `6` that share a face, the "
               "`18` that share a face or an edge, the `26` that share a corner, too, or `14`, the edges of "
               "Freudenthal's triangulation (offsets of 0 and 1, or of 0 and -1, along all axes), as in Reeber.",
       .choices = {"6", "14", "18", "26"}}};
}

OptionTable<Thresholds> threshold_options() {
  return OptionTable<Thresholds>{
      option("boundary", &Thresholds::boundary,
             "Cells with values >= this belong to halos, if they are connected with a cell that reaches `halo`.",
             {.required = true}),
      option("halo", &Thresholds::peak,
             "A connected component is a halo if its greatest value is >= this. Must not be below `boundary`.",
             {.required = true}),
      option<OptionType::choice>(
          "units", &Thresholds::of_mean,
          "Units of both thresholds: `absolute`, those of the variable, or `mean`, the mean of all finite "
          "values of the iteration.",
          {.standard = "absolute", .choices = {{"absolute", false}, {"mean", true}}}),
      option("minimum_cells", &Thresholds::least_cells, "Halos with fewer cells are left out.",
             {.standard = 1, .minimum = 1})}
      .then([](const OptionTable<Thresholds>& options, const Settings& settings, const Metadata&, Thresholds& found) {
        if (std::isfinite(found.boundary) && std::isfinite(found.peak) && found.peak >= found.boundary) return;
        options.fail(settings, &Thresholds::peak,
                     fmt::format("found `boundary` {} and `halo` {}; expected two finite numbers, `halo` not below "
                                 "`boundary`: all cells of a halo are >= `boundary`, its peak is >= `halo`",
                                 found.boundary, found.peak));
      });
}

Field read_field(const Settings& settings, const Metadata& metadata, const std::string& what) {
  const Variable& variable = read_variable(settings, metadata);
  const Mesh& mesh = metadata.mesh_of(variable);
  require_uniform(settings, variable, mesh, what);
  Field field;
  field.variable = variable.id;
  field.component = read_one_component(settings, variable);
  field.connectivity = whole_of<int>(settings.text("connectivity")).value();
  field.name = variable.name;
  field.unit = variable.unit;
  field.lattice = Lattice(mesh, variable.order);
  const auto* uniform = dynamic_cast<const UniformGeometry*>(mesh.geometry.get());
  field.origin = uniform->origin();
  field.spacing = uniform->spacing();
  return field;
}

double Field::wrapped(std::size_t axis, double cells) const noexcept {
  if (!lattice.periodic[axis]) return cells;
  const auto n = static_cast<double>(lattice.size[axis]);
  if (cells < -n / 2) cells += n;
  if (cells >= n / 2) cells -= n;
  return cells;
}

Bytes MeanSums::to_bytes() const {
  Words words;
  for (const ExactSum* sum : {&mass, &volume}) {
    const auto form = sum->serialise();
    words.insert(words.end(), form.begin(), form.end());
  }
  return sidestream::to_bytes(words);
}

Bytes sum_values(std::span<const BlockView> views, int component) {
  MeanSums sums;
  std::int64_t count = 0;
  for (const BlockView& view : views) {
    for_each_owned_run(view, component, [&](const auto* values, Index n, Index stride) {
      for (Index i = 0; i < n; ++i) {
        const auto value = static_cast<double>(values[i * stride]);
        if (!std::isfinite(value)) continue;
        sums.mass.add(value);
        ++count;
      }
    });
  }
  sums.volume.add(static_cast<double>(count));
  return sums.to_bytes();
}

Bytes combine_mean(std::span<const Bytes> partials, Communicator& servers) {
  Words all(mean_words, 0);
  for (const Bytes& partial : partials) {
    const Words words = to_words(partial, mean_words);
    for (std::size_t n = 0; n < mean_words; ++n) all[n] += words[n];
  }
  servers.sum(all);
  return to_bytes(all);
}

double mean_of(BytesView combined) {
  const Words words = to_words(combined, mean_words);
  const std::span all(words);
  const double volume = ExactSum::deserialise(all.last<ExactSum::words>()).value();
  if (volume == 0) return std::numeric_limits<double>::quiet_NaN();
  return quotient_of(ExactSum::deserialise(all.first<ExactSum::words>()), volume);
}

}  // namespace sidestream::halos
