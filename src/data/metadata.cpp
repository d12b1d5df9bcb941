#include "sidestream/data/metadata.hpp"

#include <algorithm>

namespace sidestream {

const Variable* Metadata::find_variable(std::string_view name) const noexcept {
  const auto found =
      std::find_if(variables.begin(), variables.end(), [&](const Variable& v) { return v.name == name; });
  return found == variables.end() ? nullptr : &*found;
}

const Mesh* Metadata::find_mesh(std::string_view name) const noexcept {
  const auto found = std::find_if(meshes.begin(), meshes.end(), [&](const Mesh& m) { return m.name == name; });
  return found == meshes.end() ? nullptr : &*found;
}

}  // namespace sidestream
