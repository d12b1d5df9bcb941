#include "visualisation/extract/extract.hpp"

namespace sidestream {

AttributeSources::AttributeSources(const PointGrid& grid, const std::vector<std::int32_t>& variables,
                                   std::int64_t block, const LocalInput& input) {
  for (const std::int32_t id : variables) {
    const Variable& variable = input.metadata.variables.at(static_cast<std::size_t>(id));
    const BlockView* view = find_block(input.of(id), block);
    for (int c = 0; c < variable.components; ++c) {
      sources_.push_back(std::make_unique<FieldSource>(grid, input.metadata.mesh_of(variable), variable, c, view));
      pointers_.push_back(sources_.back().get());
    }
  }
}

const BlockView* coordinates_of(const Mesh& mesh, const LocalInput& input, const BlockView& of) {
  return input.find(mesh.array(Role::coordinates), of.block.id);
}

const BlockView* flags_of(const Mesh& mesh, const LocalInput& input, const BlockView& of) {
  return input.find(mesh.array(Role::cell_ghosts), of.block.id);
}

std::vector<AttributeLayout> layout_of_variables(const std::vector<std::int32_t>& variables, const Metadata& metadata) {
  std::vector<AttributeLayout> layout;
  for (const std::int32_t id : variables) {
    const Variable& variable = metadata.variables.at(static_cast<std::size_t>(id));
    layout.push_back({variable.name, variable.components});
  }
  return layout;
}

}  // namespace sidestream
