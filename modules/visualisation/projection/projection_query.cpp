#include "visualisation/projection/projection_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/data/tree_walk.hpp"

namespace sidestream {
namespace {

const char* const axis_names[3] = {"x", "y", "z"};

void check_mesh(const Settings& settings, const std::string& name, const Metadata& metadata,
                const ProjectionQuery& query) {
  const Variable& variable = query.variable;
  const Mesh& mesh = metadata.mesh_of(variable);
  const bool tree = mesh.kind() == MeshKind::octree;
  if (mesh.dimensions < 2 || (mesh.axes() == nullptr && !tree)) {
    settings.fail(name, fmt::format("'{}' lies on mesh '{}', which is {}{}; a projection needs a uniform or "
                                    "rectilinear mesh or an octree, of two or three dimensions. Take a variable "
                                    "on one, or `statistics` of this one",
                                    variable.name, mesh.name, mesh.geometry ? mesh.geometry->kind() : "none",
                                    mesh.dimensions < 2 ? " and has one dimension" : ""));
  }
  if (mesh.refinement.empty()) return;
  if (mesh.kind() != MeshKind::uniform) {
    settings.fail(name, fmt::format("'{}' lies on mesh '{}', which is {} and has refinement levels: nothing says "
                                    "where their nodes lie; project variables of uniform meshes",
                                    variable.name, mesh.name, mesh.geometry->kind()));
  }
  if (variable.centering != Centering::cell) {
    settings.fail(name, fmt::format("'{}' lies at {}s of mesh '{}', which has refinement levels; there only "
                                    "values in cells can be projected",
                                    variable.name, name_of(variable.centering, mesh.dimensions), mesh.name));
  }
}

void check_weight_mesh(const Settings& settings, const std::string& name, const Metadata& metadata,
                       const ProjectionQuery& query) {
  const Variable& variable = query.variable;
  if (!query.weight) return;
  const Variable& weight = *query.weight;
  if (weight.mesh == variable.mesh && weight.centering == variable.centering) return;
  settings.fail(name, fmt::format("'{}' lies in {}s of mesh '{}', but '{}' in {}s of mesh '{}'; weigh with a "
                                  "variable of the same mesh and centring",
                                  weight.name, name_of(weight.centering), metadata.mesh_of(weight).name, variable.name,
                                  name_of(variable.centering), metadata.mesh_of(variable).name));
}

void check_weight_component(const Settings& settings, const std::string& name, const Metadata&,
                            const ProjectionQuery& query) {
  if (!query.weight && settings.given(name)) settings.fail(name, "there is no `weight`; give one");
  if (!query.weight || query.weight_component < query.weight->components) return;
  settings.fail(name, fmt::format("component {} of '{}' does not exist; it has {} (numbered from 0)",
                                  query.weight_component, query.weight->name, query.weight->components));
}

/// Reads `level`; for trees it is required, since their depth is not declared.
void read_level(const Settings& settings, const std::string& name, const Metadata& metadata, ProjectionQuery& query) {
  const Mesh& mesh = metadata.mesh_of(query.variable);
  const auto finest = static_cast<std::int32_t>(mesh.refinement.size());
  const bool given = query.level >= 0;
  if (!given) query.level = finest;
  if (mesh.kind() != MeshKind::octree) {
    if (query.level <= finest) return;
    settings.fail(name, fmt::format("mesh '{}' has no level {}; its finest is {}", mesh.name, query.level, finest));
  }
  if (!given) {
    settings.fail(name, fmt::format("mesh '{}' is an octree, and nothing declares how deep it becomes; write the "
                                    "level whose cells the result has",
                                    mesh.name));
  }
  const Index3& roots = dynamic_cast<const OctreeGeometry&>(*mesh.geometry).roots();
  const Index most = *std::max_element(roots.begin(), roots.end());
  if (query.level <= 30 && most << query.level <= Index{1} << 31) return;
  settings.fail(name, fmt::format("level {} of mesh '{}' has more than 2^31 cells along an axis; take a coarser one",
                                  query.level, mesh.name));
}

void check_axis(const Settings& settings, const std::string& name, const Metadata& metadata,
                const ProjectionQuery& query) {
  const Mesh& mesh = metadata.mesh_of(query.variable);
  if (query.axis < mesh.dimensions) return;
  settings.fail(name, fmt::format("mesh '{}' has two dimensions and no axis z; project along x or y", mesh.name));
}

void check_picture(const Settings& settings, const std::string& name, const Metadata& metadata,
                   const ProjectionQuery& query) {
  const Mesh& mesh = metadata.mesh_of(query.variable);
  if (!query.picture || mesh.dimensions == 3) return;
  settings.fail(
      name, fmt::format("mesh '{}' has two dimensions, so its projection is a line; leave the image out", mesh.name));
}

/// Mesh with the positions of a level's cells.
Mesh mesh_with_levels(const ProjectionQuery& query, const Metadata& metadata) {
  const Mesh& mesh = metadata.mesh_of(query.variable);
  return mesh.kind() == MeshKind::octree ? as_levels(mesh, query.level) : mesh;
}

std::vector<int> axes_but(int axis, int dimensions) {
  std::vector<int> left;
  for (int a = 0; a < dimensions; ++a) {
    if (a != axis) left.push_back(a);
  }
  return left;
}

/// Extents, slowest axis first.
std::vector<Index> extents_of(const Box& points, const std::vector<int>& axes) {
  std::vector<Index> extents;
  for (auto a = axes.rbegin(); a != axes.rend(); ++a) extents.push_back(points.extent(*a));
  return extents;
}

/// Numbers of rows and cells per level, down to the result's.
std::vector<std::array<Index, 2>> ratios_of(const Mesh& mesh, std::int32_t finest, const std::vector<int>& axes) {
  std::vector<std::array<Index, 2>> ratios;
  for (std::int32_t level = 0; level <= finest; ++level) {
    const Index3 ratio = mesh.ratio_to(level);
    const auto along = [&](int a) { return ratio[static_cast<std::size_t>(a)]; };
    ratios.push_back({along(axes.back()), axes.size() > 1 ? along(axes.front()) : 1});
  }
  return ratios;
}

}  // namespace

OptionTable<ProjectionQuery> projection_options() {
  using Query = ProjectionQuery;
  return {
      variable_option(&Query::variable,
                      "The variable to project, of any centring on a uniform or rectilinear mesh; in cells on meshes "
                      "with refinement levels and octrees.")
          .then(check_mesh),
      one_component_option(&Query::component, &Query::variable),
      option<OptionType::choice>("axis", &Query::axis, "The axis of the projection.",
                                 {.required = true, .choices = {{"x", 0}, {"y", 1}, {"z", 2}}})
          .then(check_axis),
      option<OptionType::choice>(
          "quantity", &Query::mean,
          "`integral`: the integral of the values along the axis, values times lengths. `mean`: their mean along "
          "the axis, weighted by lengths and, if given, by `weight`.",
          {.standard = "integral", .choices = {{"integral", false}, {"mean", true}}}),
      option("weight", &Query::weight,
             "A variable of the same mesh and centring by which values are multiplied; a mean is divided by its "
             "integral.")
          .then(check_weight_mesh),
      option("weight_component", &Query::weight_component, "The component of `weight`, from 0.",
             {.standard = 0, .minimum = 0})
          .then(check_weight_component),
      option("level", &Query::level,
             "The refinement level whose cells the result has, from 0. Default: the finest that the mesh declares; "
             "required for octrees. Coarser cells fill all places of the result that they cover; finer ones count "
             "with their fraction of a place.",
             {.minimum = 0})
          .then(read_level),
      choice_options(&Query::choice, &Query::variable),
      file_option(&Query::file, "projection-{index:05}.h5", "The data set, one file per iteration."),
      pieces_option(&Query::pieces),
      option("image", &Query::picture, "An image of the result, for meshes of three dimensions.",
             {.options = heat_map_options()})
          .then(check_picture)};
}

ProjectionGrid::ProjectionGrid(const ProjectionQuery& query, const Metadata& metadata)
    : mesh_(mesh_with_levels(query, metadata)),
      dimensions_(mesh_.dimensions),
      level_(mesh_, query.level),
      centering_(query.variable.centering),
      points_(points_of(centering_, level_.cells())),
      left_(axes_but(query.axis, dimensions_)),
      shape_(extents_of(points_, left_)),
      levels_(shape_, ratios_of(mesh_, query.level, left_)) {
  for (auto a = left_.rbegin(); a != left_.rend(); ++a) {
    GridAxis& axis = axes_.emplace_back(GridAxis{axis_names[*a], {}});
    for (Index i = first(*a); i < first(*a) + count(*a); ++i)
      axis.positions.push_back(level_.position(centering_, *a, i));
  }
}

LevelColumn ProjectionGrid::column(std::int32_t level, const Index3& point) const noexcept {
  // The first index of every level lies at the same position.
  const auto along = [&](int a) {
    const auto n = static_cast<std::size_t>(a);
    const Index more = left_.size() > 1 && a == left_.front() ? levels_.fill(level)[1] : levels_.fill(level)[0];
    return point[n] - points_.lo[n] / more;
  };
  return {level, along(left_.back()), left_.size() > 1 ? along(left_.front()) : 0};
}

std::vector<double> ProjectionGrid::edges(int axis) const {
  std::vector<double> edges;
  const Index begin = first(axis), end = begin + count(axis);
  if (!at_nodes(centering_, axis)) {
    for (Index i = begin; i <= end; ++i) edges.push_back(level_.node(axis, i));
    return edges;
  }
  // A node represents the region that is closer to it than to other nodes.
  edges.push_back(level_.node(axis, begin));
  for (Index i = begin; i + 1 < end; ++i) edges.push_back(0.5 * (level_.node(axis, i) + level_.node(axis, i + 1)));
  edges.push_back(level_.node(axis, end - 1));
  return edges;
}

double width_along(const Mesh& mesh, Centering centering, int axis, std::int32_t level, Index index) {
  const auto a = static_cast<std::size_t>(axis);
  if (const auto* uniform = dynamic_cast<const UniformGeometry*>(mesh.geometry.get())) {
    const double width = std::fabs(uniform->spacing()[a]) / static_cast<double>(mesh.ratio_to(level)[a]);
    const bool end = at_nodes(centering, axis) && (index == mesh.cells.lo[a] || index == mesh.cells.hi[a]);
    return end ? 0.5 * width : width;
  }
  const Axes& axes = *mesh.axes();
  if (!at_nodes(centering, axis)) return std::fabs(axes.node(axis, index + 1) - axes.node(axis, index));
  const double lower = axes.node(axis, std::max(index - 1, mesh.cells.lo[a]));
  const double upper = axes.node(axis, std::min(index + 1, mesh.cells.hi[a]));
  return 0.5 * std::fabs(upper - lower);
}

}  // namespace sidestream
