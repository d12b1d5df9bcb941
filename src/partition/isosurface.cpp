// Partitioner `isosurface`: only blocks in which a variable passes through a value, in equal shares.
#include <fmt/format.h>

#include "partition/kinds.hpp"
#include "partition/splitting.hpp"

namespace sidestream {

namespace {

Selected restrict_to_isosurface(const Settings& settings, const Metadata& metadata) {
  const Variable& variable = *metadata.find_variable(settings.text("variable"));
  const std::int64_t component = settings.integer("component");
  if (component >= variable.components) {
    settings.fail("component", fmt::format("found component {} of the variable '{}', which has {}, expected one of 0 "
                                           "to {}; correct it",
                                           component, variable.name, variable.components, variable.components - 1));
  }
  if (metadata.mesh_of(variable).owned_points) {
    settings.fail("variable",
                  fmt::format("found '{}' on a mesh with 'points: owned', expected a variable of another mesh: "
                              "ranges of blocks lack the points between them; use the partitioner 'block'",
                              variable.name));
  }
  ValuesBracketed values{settings.reals("values"), {variable.id, static_cast<std::int32_t>(component)}};
  Selected selected(variable.id, 0, std::move(values));
  // On refinement levels covered cells have no surface.
  selected.covered = metadata.mesh_of(variable).refinement.empty() && !metadata.mesh_of(variable).is_list();
  return selected;
}

}  // namespace

PartitionerKind isosurface_partitioner() {
  PartitionerKind kind;
  kind.name = "isosurface";
  kind.text =
      "Contiguous equal shares. Of the variable's mesh only blocks in which the variable passes through one of the "
      "given values are moved; its other blocks go nowhere, whatever analyses need. The ranges of blocks are "
      "measured in each iteration.";
  kind.options = {{.name = "variable", .type = OptionType::variable, .required = true, .text = "The variable."},
                  {.name = "component",
                   .type = OptionType::integer,
                   .default_value = "0",
                   .text = "The variable's component, from 0.",
                   .minimum = 0,
                   .maximum = 1023},
                  {.name = "values",
                   .type = OptionType::real,
                   .list = true,
                   .required = true,
                   .text = "The values.",
                   .least_entries = 1}};
  kind.plan = [](const PlanInput& input, const Settings&) { return equal_shares(input); };
  kind.restrict_to = restrict_to_isosurface;
  return kind;
}

}  // namespace sidestream
