#include "config/expressions/derived_places.hpp"

#include <fmt/format.h>

#include <optional>

namespace sidestream {

using Kind = DerivationStep::Kind;

std::string place_steps(std::vector<DerivationStep>& steps, const Metadata& metadata, const Mesh& mesh) {
  if (mesh.kind() != MeshKind::unstructured) return {};
  std::vector<std::optional<Centering>> places;  // nothing: the same everywhere
  for (DerivationStep& step : steps) {
    std::optional<Centering>& mine = places.emplace_back();
    if (step.kind == Kind::variable || step.kind == Kind::derived)
      mine = metadata.variables.at(static_cast<std::size_t>(step.variable)).centering;
    if (step.kind == Kind::coordinate) mine = nodes_of(mesh.dimensions);
    for (const std::size_t argument : step.arguments) {
      const std::optional<Centering> other = places[argument];
      if (mine && other && *mine != *other) {
        return fmt::format(
            "which joins values at points and in cells of the mesh '{}'; nothing is interpolated, and derivatives on "
            "unstructured meshes lie in cells: join values at the same places",
            mesh.name);
      }
      if (other) mine = other;
    }
    step.in_cells = step.is_stencil();
    if (!step.in_cells) continue;
    if (mine == Centering::cell) {
      return fmt::format(
          "which takes derivatives of values in cells of the mesh '{}', which is unstructured; there they are taken of "
          "values at points, and lie in cells: publish values at points",
          mesh.name);
    }
    mine = Centering::cell;
  }
  return {};
}

}  // namespace sidestream
