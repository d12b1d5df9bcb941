// Partitioner `slice`: only blocks that a plane cuts, in equal shares.
#include <cmath>

#include "partition/kinds.hpp"
#include "partition/splitting.hpp"
#include "sidestream/extend/option_table.hpp"

namespace sidestream {

namespace {

struct SliceBlocks : PlaneCut {
  std::optional<Variable> variable{};  ///< whose points decide; none: the first one of the only mesh
};

OptionTable<SliceBlocks> slice_options() {
  return {option("origin", &PlaneCut::origin, "A point of the plane.", {.required = true}),
          option("normal", &PlaneCut::normal, "The plane's normal, of any length.", {.required = true}),
          option("variable", &SliceBlocks::variable,
                 "The variable whose points decide which blocks the plane cuts. Required if there are several meshes; "
                 "the default is the first variable.")};
}

std::int32_t first_variable(const Settings& settings, const Metadata& metadata) {
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
  const SliceBlocks blocks = slice_options().read(settings, metadata);
  double length = 0;
  for (const double side : blocks.normal) length = std::hypot(length, side);
  if (!(length > 0) || !std::isfinite(length)) {
    settings.fail("normal",
                  "found a normal without direction, expected three finite numbers that are not all 0; "
                  "correct it");
  }
  return {blocks.variable ? blocks.variable->id : first_variable(settings, metadata), 0, PlaneCut(blocks)};
}

}  // namespace

PartitionerKind slice_partitioner() {
  PartitionerKind kind;
  kind.name = "slice";
  kind.text =
      "Contiguous equal shares. Of the variable's mesh only blocks that a plane cuts are moved; its other blocks go "
      "nowhere, whatever analyses need.";
  kind.options = slice_options().declarations();
  kind.plan = [](const PlanInput& input, const Settings&) { return equal_shares(input); };
  kind.restrict_to = restrict_to_slice;
  return kind;
}

}  // namespace sidestream
