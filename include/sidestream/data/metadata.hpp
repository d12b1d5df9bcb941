// The frozen declarations of a session.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sidestream/data/mesh.hpp"
#include "sidestream/data/variable.hpp"

namespace sidestream {

/// All meshes and variables; indices equal ids.
struct Metadata {
  std::vector<Mesh> meshes;
  std::vector<Variable> variables;

  /// The variable or mesh of that name, or null.
  [[nodiscard]] const Variable* find_variable(std::string_view name) const noexcept;
  [[nodiscard]] const Mesh* find_mesh(std::string_view name) const noexcept;
  [[nodiscard]] const Mesh& mesh_of(const Variable& variable) const { return meshes.at(variable.mesh); }
};

}  // namespace sidestream
