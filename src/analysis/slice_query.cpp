#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/common_options.hpp"
#include "analysis/contour_cells.hpp"
#include "analysis/contour_flat.hpp"
#include "analysis/extract.hpp"

namespace sidestream {
namespace {

const char* const axis_names[3] = {"x", "y", "z"};

/// First and last node of the mesh on an axis, in ascending order of position; twice the same where it has no extent.
std::array<double, 2> ends(const Mesh& mesh, int axis) {
  const Axes& axes = *mesh.geometry->axes();
  const double a = axes.node(axis, mesh.cells.lo[axis]);
  if (axis >= mesh.dimensions) return {a, a};
  const double b = axes.node(axis, mesh.cells.hi[axis]);
  return {std::min(a, b), std::max(a, b)};
}

std::array<double, 3> centre(const Mesh& mesh) {
  std::array<double, 3> middle;
  for (int a = 0; a < 3; ++a) {
    const auto [low, high] = ends(mesh, a);
    middle[a] = 0.5 * (low + high);
  }
  return middle;
}

/// The axis that a normal lies along, or -1.
int along(const std::array<double, 3>& normal) {
  int axis = -1;
  for (int a = 0; a < 3; ++a) {
    if (normal[a] == 0) continue;
    if (axis >= 0) return -1;
    axis = a;
  }
  return axis;
}

/// A position a rounding error beyond or short of a face of the mesh is meant to be the face.
void snap_to_face(Plane& plane, int axis, const Mesh& mesh) {
  const auto [low, high] = ends(mesh, axis);
  const double near = 1e-9 * (high - low);
  for (const double face : {low, high}) {
    if (std::fabs(plane.origin[axis] - face) <= near) plane.origin[axis] = face;
  }
}

void require_inside(const Settings& settings, const char* option, const Plane& plane, const Mesh& mesh) {
  double low = 0, high = 0;  // of the distance over the mesh
  for (int a = 0; a < 3; ++a) {
    const auto [first, last] = ends(mesh, a);
    const double p = plane.normal[a] * (first - plane.origin[a]), q = plane.normal[a] * (last - plane.origin[a]);
    low += std::min(p, q);
    high += std::max(p, q);
  }
  if (low <= 0 && high >= 0) return;
  const auto [x0, x1] = ends(mesh, 0);
  const auto [y0, y1] = ends(mesh, 1);
  const auto [z0, z1] = ends(mesh, 2);
  settings.fail(option,
                fmt::format("the plane through ({}, {}, {}) does not meet mesh '{}', which spans x {} to {}, y {} "
                            "to {} and z {} to {}; move it there",
                            plane.origin[0], plane.origin[1], plane.origin[2], mesh.name, x0, x1, y0, y1, z0, z1));
}

/// The middle of meshes that publish where they are is not known when a plane is wanted.
[[noreturn]] void require_where(const Settings& settings, const char* option, const Mesh& mesh) {
  settings.fail(option,
                fmt::format("mesh '{}' is {}, and where its middle is, only its coordinates say; write where the "
                            "plane is, as `{}`",
                            mesh.name, mesh.geometry->kind(), option));
}

Plane read_axis_plane(const Settings& settings, const Mesh& mesh) {
  for (const char* other : {"origin", "normal"}) {
    if (settings.given(other)) {
      settings.fail(other, fmt::format("`{}` does not go with `axis`; give `axis` and `position`, or `normal` and "
                                       "`origin`",
                                       other));
    }
  }
  const std::string& name = settings.text("axis");
  const int axis = name == "x" ? 0 : name == "y" ? 1 : 2;
  if (mesh.axes() == nullptr && !settings.has("position") && axis < mesh.dimensions)
    require_where(settings, "position", mesh);
  Plane plane{mesh.axes() ? centre(mesh) : std::array<double, 3>{0, 0, 0}, {0, 0, 0}};
  plane.normal[axis] = 1;
  if (settings.has("position")) plane.origin[axis] = settings.real("position");
  return plane;
}

Plane read_normal_plane(const Settings& settings, const Mesh& mesh) {
  if (settings.given("position")) {
    settings.fail("position", "`position` needs `axis: x`, `y` or `z`; with `normal` give `origin` instead");
  }
  const std::vector<double> normal = settings.reals("normal"), origin = settings.reals("origin");
  if (normal.empty()) {
    settings.fail("axis", "the plane's direction is missing; give `axis: x`, `y` or `z`, or `normal: [x, y, z]`");
  }
  if (mesh.axes() == nullptr && origin.empty()) require_where(settings, "origin", mesh);
  Plane plane{mesh.axes() ? centre(mesh) : std::array<double, 3>{0, 0, 0}, {}};
  double length = 0;
  for (std::size_t a = 0; a < 3 && a < normal.size(); ++a) {
    plane.normal[a] = normal[a];
    length = std::hypot(length, normal[a]);
  }
  if (!(length > 0) || !std::isfinite(length)) {
    settings.fail("normal", "the normal has no direction; expected three finite numbers that are not all 0");
  }
  for (double& n : plane.normal) n /= length;
  if (!origin.empty()) std::copy_n(origin.begin(), std::min<std::size_t>(3, origin.size()), plane.origin.begin());
  return plane;
}

/// The box without the layers of cells on its sides that the plane does not meet.
Box trimmed(Box cells, const PlaneSource& distance) {
  const auto meets = [&](const Box& box) {
    return distance.may_cross({box.lo, {box.hi[0] + 1, box.hi[1] + 1, box.hi[2] + 1}});
  };
  if (!meets(cells)) return {};
  for (int a = 0; a < 3; ++a) {
    Box layer = cells;
    for (layer.hi[a] = layer.lo[a] + 1; !meets(layer); ++layer.lo[a], ++layer.hi[a]) cells.lo[a] = layer.hi[a];
    layer = cells;
    for (layer.lo[a] = layer.hi[a] - 1; !meets(layer); --layer.lo[a], --layer.hi[a]) cells.hi[a] = layer.lo[a];
  }
  return cells;
}

}  // namespace

std::vector<Option> slice_options(Purpose purpose) {
  const auto triple = [](const char* name, const char* text) {
    Option option{.name = name, .type = OptionType::real, .list = true, .text = text};
    option.least_entries = option.most_entries = 3;
    return option;
  };
  std::vector<Option> options{
      variable_option("The variable to show on the plane, all components."),
      {.name = "axis",
       .type = OptionType::choice,
       .text = "The axis that the plane is perpendicular to.",
       .choices = {axis_names[0], axis_names[1], axis_names[2]}},
      {.name = "position",
       .type = OptionType::real,
       .text = "Where the plane cuts that axis; without it, in the middle of the mesh, if that is known."},
      triple("normal", "Instead of `axis`: the plane's normal, of any length."),
      triple("origin", "With `normal`: a point of the plane; without it, the middle of the mesh, if that is known.")};
  if (purpose == Purpose::surface) {
    options.push_back({.name = "fields",
                       .type = OptionType::variable,
                       .list = true,
                       .text = "Further variables of the same mesh, all components."});
  }
  return options;
}

SliceQuery read_slice(const Settings& settings, const Metadata& metadata, Purpose purpose) {
  const Variable& variable = read_variable(settings, metadata);
  require_cells_between(settings, variable, metadata, "a slice");
  const Mesh& mesh = metadata.mesh_of(variable);
  SliceQuery query;
  if (purpose == Purpose::surface) query.variables = read_fields(settings, variable, metadata);
  if (std::find(query.variables.begin(), query.variables.end(), variable.id) != query.variables.end()) {
    settings.fail("fields", fmt::format("'{}' is the slice's `variable` already; leave it out", variable.name));
  }
  query.variables.insert(query.variables.begin(), variable.id);
  const bool by_axis = settings.has("axis");
  query.plane = by_axis ? read_axis_plane(settings, mesh) : read_normal_plane(settings, mesh);
  if (mesh.axes() == nullptr) return query;
  if (const int axis = along(query.plane.normal); axis >= 0) snap_to_face(query.plane, axis, mesh);
  require_inside(settings, by_axis ? "position" : "origin", query.plane, mesh);
  return query;
}

Selection selection_of(const SliceQuery& query, const Metadata& metadata) {
  const auto variable = [&](std::int32_t id) { return metadata.variables.at(static_cast<std::size_t>(id)); };
  const Centering centering = variable(query.variables.at(0)).centering;
  const Mesh& mesh = metadata.mesh_of(variable(query.variables.at(0)));
  Part cut = PlaneCut{query.plane.origin, query.plane.normal, query.variables.at(0)};
  // Bounds hold a block's nodes, but what lies between its last centres and the next block's is the block's too.
  if (mesh.kind() == MeshKind::curvilinear && centering == Centering::cell) cut = AllBlocks{};
  // All of a plane of two dimensions is in one.
  if (mesh.axes() == nullptr && mesh.dimensions == 2 && along(query.plane.normal) == 2) cut = AllBlocks{};
  Selection selection;
  for (const std::int32_t id : query.variables) {
    const int halo = mesh.is_list() ? 0 : halo_for(centering, variable(id).centering, false);
    selection.variables.push_back({id, halo, cut});
    selection.variables.back().wrap = false;  // a plane ends at the mesh's faces
  }
  return selection;
}

std::vector<AttributeLayout> layout_of(const SliceQuery& query, const Metadata& metadata) {
  return layout_of_variables(query.variables, metadata);
}

namespace {

/// What the plane cuts of one block of a curvilinear mesh.
void extract_curved(const SliceQuery& query, const LocalInput& input, const PointGrid& grid, const BlockView& view,
                    std::vector<Piece>& pieces) {
  const Mesh& mesh = input.metadata.meshes.at(static_cast<std::size_t>(view.block.mesh));
  const BlockView* coordinates = coordinates_of(mesh, input, view);
  const std::vector<Box> cells = grid.cells_of(view);
  CurvedPlaneSource distance(grid, mesh, input.metadata, coordinates, query.plane);
  CurvedPoints places(grid, mesh, input.metadata, coordinates, grid.flat());
  const AttributeSources attributes(grid, query.variables, view.block.id, input);
  ContourRequest request{.grid = grid,
                         .scalar = distance,
                         .cells = cells,
                         .curved = &places,
                         .attributes = attributes.pointers(),
                         .reverse = true,
                         .merge_at_points = true};
  if (grid.flat() && along(query.plane.normal) == 2) {
    request.reverse = query.plane.normal[2] < 0;
    pieces.push_back(all_cells(request));
    return;
  }
  const double zero = 0;
  for (Piece& piece : contour(request, std::span(&zero, 1))) pieces.push_back(std::move(piece));
}

std::vector<Piece> extract_from_lists(const SliceQuery& query, const LocalInput& input) {
  std::vector<Piece> pieces;
  for (const BlockView& view : input.of(query.variables.at(0))) {
    const std::optional<CellList> list = cell_list_of(input, view);
    if (!list) continue;
    CellContour request{.list = *list,
                        .numbers = list->distances(query.plane),
                        .fields = cell_fields(query.variables, input, view.block),
                        .reverse = true,
                        .merge_at_points = true};
    if (list->dimensions() == 2 && along(query.plane.normal) == 2) {
      request.reverse = query.plane.normal[2] < 0;
      pieces.push_back(all_flat_cells(request));
      continue;
    }
    const double zero = 0;
    for (Piece& piece : contour_cells(request, std::span(&zero, 1))) pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace

std::vector<Piece> extract(const SliceQuery& query, const LocalInput& input) {
  const Variable& variable = input.metadata.variables.at(static_cast<std::size_t>(query.variables.at(0)));
  const Mesh& mesh = input.metadata.mesh_of(variable);
  if (mesh.is_list()) return extract_from_lists(query, input);
  const PointGrid grid(mesh, variable.centering, Reach::faces);
  std::vector<Piece> pieces;
  if (grid.curved()) {
    for (const BlockView& view : input.of(variable.id)) extract_curved(query, input, grid, view, pieces);
    return pieces;
  }
  PlaneSource distance(grid, query.plane);
  // The plane that a mesh of two dimensions is.
  const bool along_mesh = grid.flat() && along(query.plane.normal) == 2;
  for (const BlockView& view : input.of(variable.id)) {
    std::vector<Box> cells = grid.cells_of(view);
    if (!grid.flat()) {
      for (Box& box : cells) box = trimmed(box, distance);
    }
    std::erase_if(cells, [](const Box& box) { return box.empty(); });
    const AttributeSources attributes(grid, query.variables, view.block.id, input);
    const ContourRequest request{.grid = grid,
                                 .scalar = distance,
                                 .cells = cells,
                                 .attributes = attributes.pointers(),
                                 .reverse = along_mesh ? query.plane.normal[2] < 0 : distance.reverse(),
                                 .merge_at_points = true};
    if (along_mesh) {
      pieces.push_back(all_cells(request));
      continue;
    }
    const double zero = 0;
    for (Piece& piece : contour(request, std::span(&zero, 1))) pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace sidestream
