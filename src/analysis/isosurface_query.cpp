#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/common_options.hpp"
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
  require_axes(settings, variable, metadata, "an isosurface");
  IsosurfaceQuery query;
  query.variable = variable.id;
  query.component = read_one_component(settings, variable);
  query.values = settings.reals("values");
  for (const double value : query.values) {
    if (!std::isfinite(value)) {
      settings.fail("values", fmt::format("{} has no surface; write finite numbers", value));
    }
  }
  if (purpose == Purpose::picture) {
    query.normals = metadata.mesh_of(variable).dimensions == 3;
    return query;
  }
  query.fields = read_fields(settings, variable, metadata);
  // Lines have none.
  query.normals = settings.boolean("normals") && metadata.mesh_of(variable).dimensions == 3;
  return query;
}

Selection selection_of(const IsosurfaceQuery& query, const Metadata& metadata) {
  const Variable& variable = metadata.variables.at(static_cast<std::size_t>(query.variable));
  const ValuesBracketed bracketed{query.values, {query.variable, query.component}};
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
  const PointGrid grid(mesh, variable.centering, Reach::centres);
  std::vector<Piece> pieces;
  for (const BlockView& view : input.of(variable.id)) {
    const std::vector<Box> cells = grid.cells_of(view);
    FieldSource numbers(grid, mesh, variable, query.component, &view);
    const AttributeSources attributes(grid, query.fields, view.block.id, input);
    const ContourRequest request{
        .grid = grid, .scalar = numbers, .cells = cells, .attributes = attributes.pointers(), .normals = query.normals};
    for (Piece& piece : contour(request, query.values)) pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace sidestream
