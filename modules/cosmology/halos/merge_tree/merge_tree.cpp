// The analysis `merge_tree`: the choice of the forest that fits the mesh.
#include <fmt/format.h>

#include "cosmology/halos/merge_tree/amr_forest.hpp"
#include "cosmology/halos/merge_tree/box_forest.hpp"
#include "cosmology/halos/merge_tree/merge_task.hpp"
#include "cosmology/kinds.hpp"
#include "sidestream/kit/analysis/common_options.hpp"

namespace sidestream {
namespace halos {
namespace {

std::unique_ptr<Task> create_tree(const Settings& settings, const Metadata& metadata) {
  const Mesh& mesh = metadata.mesh_of(read_variable(settings, metadata));
  if (!has_levels(mesh)) {
    Field field = read_field(settings, metadata, "`merge_tree`");
    TreeQuery query = tree_options(mesh.dimensions, cell_at(field)).read(settings, metadata);
    return std::make_unique<MergeTree<BoxForest>>(std::move(query), BoxForest(std::move(field)));
  }
  AmrForest forest(read_amr_graph(settings, metadata, "`merge_tree`"));
  const auto finest = static_cast<std::int32_t>(mesh.refinement.size());
  if (forest.numbers().deepest() < finest) {
    settings.fail("variable", fmt::format("mesh '{}' has more cells on level {} than numbers of 64 bits tell apart, "
                                          "2^58; expected fewer: `resample` it to a coarser level",
                                          mesh.name, finest));
  }
  TreeQuery query = tree_options(mesh.dimensions, cell_at(forest.grid())).read(settings, metadata);
  return std::make_unique<MergeTree<AmrForest>>(std::move(query), std::move(forest));
}

}  // namespace
}  // namespace halos

AnalysisKind merge_tree_kind() {
  return {
      .name = "merge_tree",
      .text =
          "The merge tree of a variable: for each maximum, the saddle at which its component of cells >= a level "
          "meets that of a higher maximum as the level decreases (the elder rule; of equal values the one with the "
          "larger linear index is higher). It is built once per iteration; each server holds the part that its own "
          "cells need. It then answers queries for halos of any thresholds, and whether places are connected. On "
          "uniform meshes with and without refinement levels, and on octrees, periodic or not. Cells with NaN do not count. Results do not depend on how "
          "the mesh is divided. docs/cosmology.md.",
      .options = halos::tree_options().declarations(),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return halos::create_tree(settings, metadata);
      },
  };
}

}  // namespace sidestream
