// The analysis `halos`: its options, and the choice of the graph that fits the mesh.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cosmology/halos/amr/amr_graph.hpp"
#include "cosmology/halos/finder/halo_task.hpp"
#include "cosmology/halos/finder/run_graph.hpp"
#include "cosmology/kinds.hpp"
#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/base/numbers.hpp"

namespace sidestream {
namespace halos {

Selection HalosQuery::selection(std::int32_t density) const {
  Selection selection;
  const auto add = [&](std::int32_t variable) { selection.variables.emplace_back(variable).covered = false; };
  add(density);
  if (profile) {
    for (const ProfileField& field : profile->fields) add(field.variable);
  }
  if (particles()) {
    for (const std::int32_t id : {particles()->coordinates, particles()->ids, particles()->weight}) {
      if (id >= 0) selection.variables.emplace_back(id);
    }
  }
  selection.geometry = false;
  return selection;
}

namespace {

/// `shortest`: length of a cell's shortest side.
OptionTable<HalosQuery> options(const Variable& density = {}, double shortest = 0) {
  using Query = HalosQuery;
  return {options_read_elsewhere<Query>(field_options()),
          options_of(&Query::thresholds, threshold_options()),
          file_option(&Query::file, "halos-{index:05}.csv", "The table, a row for each halo."),
          pieces_option(&Query::pieces),
          option("mass_function", &Query::mass_function,
                 "The number of halos by mass, in intervals of equal width in the logarithm of the mass.",
                 {.options = mass_function_options()}),
          option("history", &Query::history,
                 "Halos over time: each is matched with halos of the last analysed iteration by the cells, or the "
                 "particles, that they share.",
                 {.options = history_options(density)}),
          option("profile", &Query::profile,
                 "Profiles of halos: sums over the cells in spherical shells around each halo. On periodic meshes each "
                 "cell counts at its nearest periodic image.",
                 {.options = profile_options(density, shortest)}),
          option("labels", &Query::labels,
                 "The number of each cell's halo as an array `halo` over the whole mesh, -1 for cells without one. For "
                 "octrees and refinement levels: lists of the cells in halos, by `level` and indices.",
                 {.options = label_options()})};
}

/// Shortest side of the cells of the coarsest level.
double shortest_side(const Mesh& mesh) {
  const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh.geometry.get());
  const auto* uniform = dynamic_cast<const UniformGeometry*>(mesh.geometry.get());
  const std::array<double, 3> spacing = tree != nullptr ? tree->spacing() : uniform->spacing();
  double least = std::fabs(spacing[0]);
  for (std::size_t a = 1; a < static_cast<std::size_t>(mesh.dimensions); ++a) {
    least = std::min(least, std::fabs(spacing[a]));
  }
  return least;
}

AmrGraph read_amr_graph(const Settings& settings, const Metadata& metadata) {
  const Variable& variable = read_variable(settings, metadata);
  const Mesh& mesh = metadata.mesh_of(variable);
  if (mesh.kind() != MeshKind::octree && mesh.kind() != MeshKind::uniform) {
    settings.fail("variable", fmt::format("'{}' lies on mesh '{}' of type '{}' with refinement levels; `halos` takes "
                                          "octrees, and uniform meshes with and without levels",
                                          variable.name, mesh.name, mesh.geometry ? mesh.geometry->kind() : "none"));
  }
  require_values_in_cells(settings, "variable", variable, mesh, "`halos`");
  const int component = read_one_component(settings, variable);
  return {mesh, whole_of<int>(settings.text("connectivity")).value(), variable, component};
}

std::unique_ptr<Task> create(const Settings& settings, const Metadata& metadata) {
  const Variable& variable = read_variable(settings, metadata);
  const Mesh& mesh = metadata.mesh_of(variable);
  if (has_levels(mesh)) {
    AmrGraph graph = read_amr_graph(settings, metadata);
    HalosQuery query = options(variable, shortest_side(mesh)).read(settings, metadata);
    return std::make_unique<HaloTask<AmrGraph>>(std::move(query), std::move(graph));
  }
  Field field = read_field(settings, metadata, "`halos`");
  HalosQuery query = options(variable, field.shortest()).read(settings, metadata);
  return std::make_unique<HaloTask<RunGraph>>(std::move(query), RunGraph(std::move(field)));
}

}  // namespace
}  // namespace halos

AnalysisKind halos_kind() {
  return {
      .name = "halos",
      .text =
          "Halos of a density: connected sets of cells >= `boundary` whose greatest value is >= `halo`, on uniform "
          "meshes of one to three dimensions with and without refinement levels, and on octrees. One table per "
          "iteration, in the order of the peaks' linear index (i * nj + j) * nk + k, counted from the mesh's lower "
          "end; of equal values the one with the larger index is the peak. Each cell counts once; ghosts and NaN do "
          "not count. `mass` is the sum of the values times the volume of a cell (area or length on meshes of two "
          "dimensions or one), in the variable's unit times that of the coordinates cubed. `mass_x` and so on are "
          "the centroid weighted by the values, `centre_x` the plain centroid; on periodic meshes both are computed "
          "around the peak and then wrapped into the mesh. `low_i` to `high_i` are the first and last cells; they "
          "lie outside the mesh for a halo that continues across a periodic face. Sums are exact and rounded once, "
          "so the table does not depend on how the mesh is divided. docs/cosmology.md.",
      .options = halos::options().declarations(),
      .create = halos::create,
  };
}

}  // namespace sidestream
