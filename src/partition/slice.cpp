// Partitioner `slice`: only blocks that a plane cuts, in equal shares.
#include <cmath>

#include "partition/kinds.hpp"
#include "partition/splitting.hpp"

namespace sidestream {

namespace {

/// The variable whose points decide; if none is named, the first one of the only mesh.
std::int32_t variable_of(const Settings& settings, const Metadata& metadata) {
  if (settings.has("variable")) return metadata.find_variable(settings.text("variable"))->id;
  if (metadata.variables.empty()) {
    settings.fail("variable",
                  "found no variable declared for the partitioner 'slice', expected one; declare it under variables:");
  }
  if (metadata.meshes.size() > 1) {
    settings.fail("variable",
                  "found no 'variable' for the partitioner 'slice' and several meshes, expected the one whose mesh the "
                  "plane cuts; add 'variable: NAME'");
  }
  return metadata.variables.front().id;
}

Selected restrict_to_slice(const Settings& settings, const Metadata& metadata) {
  PlaneCut plane;
  double length = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    plane.origin[a] = settings.reals("origin")[a];
    plane.normal[a] = settings.reals("normal")[a];
    length = std::hypot(length, plane.normal[a]);
  }
  if (!(length > 0) || !std::isfinite(length)) {
    settings.fail("normal",
                  "found a normal without direction, expected three finite numbers that are not all 0; "
                  "correct it");
  }
  return {variable_of(settings, metadata), 0, plane};
}

}  // namespace

PartitionerKind slice_partitioner() {
  const auto triple = [](const char* name, const char* text) {
    Option option{.name = name, .type = OptionType::real, .list = true, .required = true, .text = text};
    option.least_entries = option.most_entries = 3;
    return option;
  };
  PartitionerKind kind;
  kind.name = "slice";
  kind.text =
      "Contiguous equal shares. Of the variable's mesh only blocks that a plane cuts are moved; its other blocks go "
      "nowhere, whatever analyses need.";
  kind.options = {triple("origin", "A point of the plane."),
                  triple("normal", "The plane's normal, of any length."),
                  {.name = "variable",
                   .type = OptionType::variable,
                   .text = "The variable whose points decide which blocks the plane cuts. Required if there are "
                           "several meshes; the default is the first variable."}};
  kind.plan = [](const PlanInput& input, const Settings&) { return equal_shares(input); };
  kind.restrict_to = restrict_to_slice;
  return kind;
}

}  // namespace sidestream
