// The frozen declarations of a session.
#pragma once

#include <algorithm>
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
  [[nodiscard]] const Variable* find_variable(std::string_view name) const noexcept { return find(variables, name); }
  [[nodiscard]] const Mesh* find_mesh(std::string_view name) const noexcept { return find(meshes, name); }
  [[nodiscard]] const Mesh& mesh_of(const Variable& variable) const { return meshes.at(variable.mesh); }
  /// True if the simulation publishes the variable: it is neither derived nor made by an analysis.
  [[nodiscard]] bool is_published(const Variable& variable) const {
    return !variable.derived() && !mesh_of(variable).made;
  }

 private:
  template <class Named>
  [[nodiscard]] static const Named* find(const std::vector<Named>& all, std::string_view name) noexcept {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Named& one) { return one.name == name; });
    return found == all.end() ? nullptr : &*found;
  }
};

}  // namespace sidestream
