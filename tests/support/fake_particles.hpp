// Meshes of particles for tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/mesh_arrays.hpp"
#include "sidestream/data/metadata.hpp"

namespace sidestream::testing {

/// An array of particles. With a role, it is the mesh's array of that role.
struct FakeParticleArray {
  std::string name;
  Type type = Type::float64;
  int components = 1;
  Role role = Role::none;
};

/// Adds a mesh of particles, and its arrays as variables.
inline void add_particles(Metadata& metadata, const std::string& name, int dimensions,
                          const std::vector<FakeParticleArray>& arrays) {
  const auto mesh = static_cast<std::int32_t>(metadata.meshes.size());
  metadata.meshes.push_back({mesh, name, {}, dimensions, std::make_shared<ArrayGeometry>(MeshKind::points)});
  for (const FakeParticleArray& array : arrays) {
    Variable v;
    v.id = static_cast<std::int32_t>(metadata.variables.size());
    v.name = array.name;
    v.mesh = mesh;
    v.type = array.type;
    v.components = array.components;
    v.centering = Centering::node;
    metadata.variables.push_back(v);
    if (array.role != Role::none) assign_role(metadata, name, array.role, array.name);
  }
}

}  // namespace sidestream::testing
