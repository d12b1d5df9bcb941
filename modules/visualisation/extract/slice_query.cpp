// Slices: the zero contour of the distance from a plane.
//
// 1. read: the plane, and whether each cell keeps its own value (octrees, refinement levels) instead of being
//    interpolated.
// 2. selection_of: blocks that the plane meets.
// 3. extract: grids with axes, after outer layers that the plane misses are trimmed; curvilinear grids with distances
//    of their nodes; lists of cells. A two-dimensional mesh in the plane is taken whole.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sidestream/kit/analysis/common_options.hpp"
#include "visualisation/contour/contour.hpp"
#include "visualisation/contour/contour_cells.hpp"
#include "visualisation/extract/extract.hpp"
#include "visualisation/extract/plane_options.hpp"

namespace sidestream {
namespace {

/// A slice as it is written.
struct SliceOptions : SliceQuery {
  PlaneOptions written{};
  std::optional<bool> own_cells{};
};

/// The box without outer layers of cells that the plane does not meet.
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

/// True if each cell has its own value, since nothing is interpolated between cells of different sizes.
bool has_own_cells(const Settings& settings, const SliceOptions& options, const Mesh& mesh) {
  const bool tree = mesh.kind() == MeshKind::octree, levels = !mesh.refinement.empty();
  const bool wanted = options.own_cells.value_or(tree || levels);
  if (!wanted && (tree || levels)) {
    settings.fail("cells", fmt::format("mesh '{}' {}: between its cells slices are not interpolated; take each cell's "
                                       "`own` value, or a slice of a `resample`d grid",
                                       mesh.name, tree ? "is an octree" : "has refinement levels"));
  }
  return wanted;
}

void require_own_cells(const Settings& settings, const Variable& variable, const Metadata& metadata) {
  const Mesh& mesh = metadata.mesh_of(variable);
  const bool tree = mesh.kind() == MeshKind::octree;
  if (mesh.dimensions < 2) {
    settings.fail("variable",
                  fmt::format("'{}' lies on mesh '{}', which has one dimension; a slice needs a mesh of two "
                              "or three. Take its `statistics`, or a `probe`",
                              variable.name, mesh.name));
  }
  if (!tree && (mesh.axes() == nullptr || (mesh.kind() == MeshKind::rectilinear && !mesh.refinement.empty()))) {
    settings.fail("variable",
                  fmt::format("'{}' lies on mesh '{}', which is {}{}; slices on which each cell has its own "
                              "value are of octrees, uniform meshes, and rectilinear ones of one level",
                              variable.name, mesh.name, mesh.geometry ? mesh.geometry->kind() : "none",
                              mesh.refinement.empty() ? "" : " with refinement levels"));
  }
  require_cells_or_nodes(settings, "variable", variable, metadata);
}

/// Checks options that only apply to such slices.
void check_own_cells(const Settings& settings, const Metadata& metadata, SliceQuery& query) {
  const Mesh& mesh = metadata.mesh_of(metadata.variables.at(static_cast<std::size_t>(query.variables.front())));
  for (const char* option : {"edges", "levels", "box"}) {
    if (query.own || !settings.given(option)) continue;
    settings.fail(option, fmt::format("`{}` is about cells, but on this slice values are interpolated between points; "
                                      "write `cells: own`, of octrees, uniform and rectilinear meshes",
                                      option));
  }
  if (!query.own) return;
  for (const std::int32_t id : query.variables) {
    require_cells_or_nodes(settings, "fields", metadata.variables.at(static_cast<std::size_t>(id)), metadata);
  }
  if (query.edges && mesh.dimensions == 2 && axis_along(query.plane.normal) != 2) {
    settings.fail("edges",
                  fmt::format("mesh '{}' has two dimensions, so that across it a slice is a line in each cell; "
                              "edges are drawn with `axis: z`",
                              mesh.name));
  }
  query.choice = read_choice(settings, mesh);
}

/// The options of a slice; read_slice reads mesh-dependent ones.
OptionTable<SliceOptions> slice_table(Purpose purpose) {
  using Options = SliceOptions;
  OptionTable<Options> table{
      options_read_elsewhere<Options>({variable_option("The variable to show on the plane, with all components.")}),
      options_of(&Options::written, plane_options()),
      option<OptionType::choice>(
          "cells", &Options::own_cells,
          "For variables in cells of meshes with axes: `linear`, interpolation between cell centres, or `own`, each "
          "cell with its own value up to its faces. Default: `own` on octrees and on meshes with refinement levels, "
          "which support nothing else, otherwise `linear`.",
          {.choices = {{"linear", false}, {"own", true}}}),
      option("edges", &Options::edges,
             "With `cells: own`: also adds the edges of the cells on the plane, as lines around each cell.",
             {.standard = false}),
      options_read_elsewhere<Options>(choice_options())};
  if (purpose == Purpose::picture) return table;
  return table
      .add(options_read_elsewhere<Options>({{.name = "fields",
                                             .type = OptionType::variable,
                                             .list = true,
                                             .text = "Further variables of the same mesh, with all components."}}))
      .add(precision_option(&Options::single));
}

}  // namespace

std::vector<Option> slice_options(Purpose purpose) { return slice_table(purpose).declarations(); }

SliceQuery read_slice(const Settings& settings, const Metadata& metadata, Purpose purpose) {
  const Variable& variable = read_variable(settings, metadata);
  const Mesh& mesh = metadata.mesh_of(variable);
  SliceOptions query = slice_table(purpose).read(settings);
  query.own = has_own_cells(settings, query, mesh);
  if (query.own) {
    require_own_cells(settings, variable, metadata);
  } else {
    require_cells_between(settings, variable, metadata, "a slice");
  }
  if (purpose == Purpose::surface) query.variables = read_fields(settings, variable, metadata);
  if (std::find(query.variables.begin(), query.variables.end(), variable.id) != query.variables.end()) {
    settings.fail("fields", fmt::format("'{}' is the slice's `variable` already; leave it out", variable.name));
  }
  query.variables.insert(query.variables.begin(), variable.id);
  query.plane = read_plane(settings, query.written, mesh);
  check_own_cells(settings, metadata, query);
  return query;
}

Selection selection_of(const SliceQuery& query, const Metadata& metadata) {
  const auto variable = [&](std::int32_t id) { return metadata.variables.at(static_cast<std::size_t>(id)); };
  const Centering centering = variable(query.variables.at(0)).centering;
  const Mesh& mesh = metadata.mesh_of(variable(query.variables.at(0)));
  Part cut = PlaneCut{query.plane.origin, query.plane.normal, query.variables.at(0)};
  // Bounds contain a block's nodes, but the region between its last centres and the next block's belongs to the block,
  // too.
  if (mesh.kind() == MeshKind::curvilinear && centering == Centering::cell) cut = AllBlocks{};
  // A plane of two dimensions contains the whole mesh.
  if (mesh.axes() == nullptr && mesh.dimensions == 2 && axis_along(query.plane.normal) == 2) cut = AllBlocks{};
  if (query.own) cut = cellwise_slice_part(query, mesh);
  Selection selection;
  for (const std::int32_t id : query.variables) {
    // Nodes on a block's border may belong to another block.
    const int of_cells = variable(id).centering == Centering::cell ? 0 : 1;
    const int halo = mesh.is_list() ? 0 : query.own ? of_cells : halo_for(centering, variable(id).centering, false);
    selection.variables.push_back({id, halo, cut});
    selection.variables.back().wrap = false;  // a plane ends at the mesh's faces
    // Cells that finer ones cover are not drawn, but nodes on their borders may be needed.
    selection.variables.back().covered = !query.own || of_cells != 0;
  }
  return selection;
}

std::vector<AttributeLayout> layout_of(const SliceQuery& query, const Metadata& metadata) {
  return layout_of_variables(query.variables, metadata);
}

namespace {

/// Slices one block of a curvilinear mesh.
void extract_curved(const SliceQuery& query, const LocalInput& input, const PointGrid& grid, const BlockView& view,
                    std::vector<Piece>& pieces) {
  const Mesh& mesh = input.metadata.meshes.at(static_cast<std::size_t>(view.block.mesh));
  const BlockView* coordinates = coordinates_of(mesh, input, view);
  const std::vector<Box> cells = grid.cells_of(view, flags_of(mesh, input, view));
  CurvedPlaneSource distance(grid, mesh, input.metadata, coordinates, query.plane);
  CurvedPoints places(grid, mesh, input.metadata, coordinates, grid.flat());
  const AttributeSources attributes(grid, query.variables, view.block.id, input);
  ContourRequest request{.grid = grid,
                         .scalar = distance,
                         .cells = cells,
                         .curved = &places,
                         .attributes = attributes.pointers(),
                         .period = query.period,
                         .reverse = true,
                         .merge_at_points = true};
  if (grid.flat() && axis_along(query.plane.normal) == 2) {
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
                        .fields = cell_fields(query.variables, input, view.block, *list),
                        .period = query.period,
                        .reverse = true,
                        .merge_at_points = true};
    if (list->dimensions() == 2 && axis_along(query.plane.normal) == 2) {
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
  if (query.own) return extract_cellwise(query, input);
  if (mesh.is_list()) return extract_from_lists(query, input);
  const PointGrid grid(mesh, variable.centering, Reach::faces);
  std::vector<Piece> pieces;
  if (grid.curved()) {
    for (const BlockView& view : input.of(variable.id)) extract_curved(query, input, grid, view, pieces);
    return pieces;
  }
  PlaneSource distance(grid, query.plane);
  // The plane coincides with the two-dimensional mesh.
  const bool along_mesh = grid.flat() && axis_along(query.plane.normal) == 2;
  for (const BlockView& view : input.of(variable.id)) {
    std::vector<Box> cells = grid.cells_of(view, flags_of(mesh, input, view));
    if (!grid.flat()) {
      for (Box& box : cells) box = trimmed(box, distance);
    }
    std::erase_if(cells, [](const Box& box) { return box.empty(); });
    const AttributeSources attributes(grid, query.variables, view.block.id, input);
    const ContourRequest request{.grid = grid,
                                 .scalar = distance,
                                 .cells = cells,
                                 .attributes = attributes.pointers(),
                                 .period = query.period,
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
