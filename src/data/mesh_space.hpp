// Surfaces and curves in space.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sidestream/data/metadata.hpp"

namespace sidestream {

/// True if the nodes of a curvilinear mesh have more coordinates than the mesh has axes: a surface or a curve in space.
[[nodiscard]] inline bool lies_in_space(const Metadata& metadata, const Mesh& mesh) noexcept {
  const std::int32_t coordinates = mesh.kind() == MeshKind::curvilinear ? mesh.array(Role::coordinates) : -1;
  return coordinates >= 0 && metadata.variables[static_cast<std::size_t>(coordinates)].components > mesh.dimensions;
}

}  // namespace sidestream
