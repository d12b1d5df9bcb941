#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/common_options.hpp"
#include "analysis/contour_cells.hpp"
#include "analysis/extract.hpp"

namespace sidestream {

std::vector<Option> isosurface_options(Purpose purpose) {
  std::vector<Option> options{variable_option("The variable whose surfaces are wanted."),
                              component_option("Which component, from 0; needed if the variable has several."),
                              {.name = "values",
                               .type = OptionType::real,
                               .list = true,
                               .required = true,
                               .text = "The values: one surface each.",
                               .least_entries = 1}};
  if (purpose == Purpose::picture) return options;
  options.push_back({.name = "fields",
                     .type = OptionType::variable,
                     .list = true,
                     .text = "Further variables of the same mesh to have at the vertices, all components."});
  options.push_back(
      {.name = "normals",
       .type = OptionType::boolean,
       .default_value = "true",
       .text = "Whether to add normals from the variable's slope, towards lower values; lines have none."});
  return options;
}

IsosurfaceQuery read_isosurface(const Settings& settings, const Metadata& metadata, Purpose purpose) {
  const Variable& variable = read_variable(settings, metadata);
  require_cells_between(settings, variable, metadata, "an isosurface");
  const Mesh& mesh = metadata.mesh_of(variable);
  if (mesh.is_list()) require_points(settings, "variable", variable, mesh);
  IsosurfaceQuery query;
  query.variable = variable.id;
  query.component = read_one_component(settings, variable);
  query.values = settings.reals("values");
  for (const double value : query.values) {
    if (!std::isfinite(value)) {
      settings.fail("values", fmt::format("{} has no surface; write finite numbers", value));
    }
  }
  // Lines have none; neither has what is made of lists, where a point's neighbours are in other blocks.
  const bool possible = mesh.dimensions == 3 && !mesh.is_list();
  if (purpose == Purpose::picture) {
    query.normals = possible;
    return query;
  }
  query.fields = read_fields(settings, variable, metadata);
  for (const std::int32_t id : query.fields) {
    if (mesh.is_list()) require_points(settings, "fields", metadata.variables[static_cast<std::size_t>(id)], mesh);
  }
  if (mesh.is_list() && settings.given("normals") && settings.boolean("normals")) {
    settings.fail("normals", fmt::format("'{}' lies on mesh '{}', which is unstructured; surfaces in it have no "
                                         "normals: leave the option out",
                                         variable.name, mesh.name));
  }
  query.normals = settings.boolean("normals") && possible;
  return query;
}

namespace {

/// Whole lists: what lies between their points is in one block.
Selection selection_of_lists(const IsosurfaceQuery& query, const ValuesBracketed& bracketed) {
  Selection selection{{{query.variable, 0, bracketed}}};
  for (const std::int32_t id : query.fields) {
    if (id != query.variable) selection.variables.push_back({id, 0, bracketed});
  }
  return selection;
}

std::vector<Piece> extract_from_lists(const IsosurfaceQuery& query, const LocalInput& input) {
  std::vector<Piece> pieces;
  for (const BlockView& view : input.of(query.variable)) {
    const std::optional<CellList> list = cell_list_of(input, view);
    if (!list) continue;
    const CellContour request{.list = *list,
                              .numbers = numbers_of(view, query.component),
                              .fields = cell_fields(query.fields, input, view.block)};
    for (Piece& piece : contour_cells(request, query.values)) pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace

Selection selection_of(const IsosurfaceQuery& query, const Metadata& metadata) {
  const Variable& variable = metadata.variables.at(static_cast<std::size_t>(query.variable));
  const ValuesBracketed bracketed{query.values, {query.variable, query.component}};
  if (metadata.mesh_of(variable).is_list()) return selection_of_lists(query, bracketed);
  Selection selection{{{query.variable, halo_for(variable.centering, variable.centering, query.normals), bracketed}}};
  for (const std::int32_t id : query.fields) {
    const Variable& field = metadata.variables.at(static_cast<std::size_t>(id));
    const int halo = halo_for(variable.centering, field.centering, false);
    if (id == query.variable) {
      selection.variables[0].halo = std::max(selection.variables[0].halo, halo);
    } else {
      selection.variables.push_back({id, halo, bracketed});
    }
  }
  for (Selected& selected : selection.variables) selected.wrap = false;  // a surface ends at the mesh's faces
  return selection;
}

std::vector<AttributeLayout> layout_of(const IsosurfaceQuery& query, const Metadata& metadata) {
  return layout_of_variables(query.fields, metadata);
}

std::vector<Piece> extract(const IsosurfaceQuery& query, const LocalInput& input) {
  const Metadata& metadata = input.metadata;
  const Variable& variable = metadata.variables.at(static_cast<std::size_t>(query.variable));
  const Mesh& mesh = metadata.mesh_of(variable);
  if (mesh.is_list()) return extract_from_lists(query, input);
  const PointGrid grid(mesh, variable.centering, Reach::centres);
  std::vector<Piece> pieces;
  for (const BlockView& view : input.of(variable.id)) {
    const std::vector<Box> cells = grid.cells_of(view);
    FieldSource numbers(grid, mesh, variable, query.component, &view);
    const AttributeSources attributes(grid, query.fields, view.block.id, input);
    std::optional<CurvedPoints> places;
    if (grid.curved()) places.emplace(grid, mesh, metadata, coordinates_of(mesh, input, view), query.normals);
    const ContourRequest request{.grid = grid,
                                 .scalar = numbers,
                                 .cells = cells,
                                 .curved = places ? &*places : nullptr,
                                 .attributes = attributes.pointers(),
                                 .normals = query.normals};
    for (Piece& piece : contour(request, query.values)) pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace sidestream
