// The attributes of a BP5 data set: meshes, variables, provenance. docs/format-bp.md describes them.
#pragma once

#include <adios2.h>
#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sidestream/data/metadata.hpp"

namespace sidestream {

/// `group/name`, on finer levels `level-1/group/name`.
[[nodiscard]] inline std::string bp_name(const Variable& variable, std::int32_t level) {
  const std::string name = variable.group.empty() ? variable.name : variable.group + "/" + variable.name;
  return level == 0 ? name : fmt::format("level-{}/{}", level, name);
}

inline void describe_bp_mesh(adios2::IO& io, const Mesh& mesh, const Metadata& metadata) {
  const std::string front = "meshes/" + mesh.name + "/";
  const auto list = [&](const std::string& name, const auto& values) {
    if (std::size(values) > 0) io.DefineAttribute(front + name, std::data(values), std::size(values));
  };
  io.DefineAttribute<std::string>(front + "kind", mesh.geometry ? mesh.geometry->kind() : "none");
  io.DefineAttribute<std::int64_t>(front + "dimensions", mesh.dimensions);
  list("lo", mesh.cells.lo);
  list("hi", mesh.cells.hi);
  std::vector<std::int64_t> ratios;
  for (const Index3& ratio : mesh.refinement) ratios.insert(ratios.end(), ratio.begin(), ratio.end());
  list("refinement", ratios);
  if (const auto* uniform = dynamic_cast<const UniformGeometry*>(mesh.geometry.get())) {
    list("origin", uniform->origin());
    list("spacing", uniform->spacing());
  } else if (const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh.geometry.get())) {
    list("roots", tree->roots());
    list("origin", tree->origin());
    list("spacing", tree->spacing());
  } else if (const auto* stretched = dynamic_cast<const RectilinearGeometry*>(mesh.geometry.get())) {
    constexpr const char* names[3] = {"x", "y", "z"};
    for (int axis = 0; axis < mesh.dimensions; ++axis) list(names[axis], stretched->nodes(axis));
  }
  for (int n = 1; n < role_count; ++n) {
    const std::int32_t id = mesh.array(static_cast<Role>(n));
    if (id < 0) continue;
    io.DefineAttribute<std::string>(front + std::string(name_of(static_cast<Role>(n))),
                                    bp_name(metadata.variables[static_cast<std::size_t>(id)], 0));
  }
}

inline void describe_bp(adios2::IO& io, const Metadata& metadata, const std::vector<std::int32_t>& variables,
                        const std::string& provenance) {
  io.DefineAttribute<std::string>("format", "sidestream-bp");
  io.DefineAttribute<std::int64_t>("version", 1);
  io.DefineAttribute<std::string>("provenance", provenance);
  std::set<std::int32_t> meshes;
  for (const std::int32_t id : variables) {
    const Variable& variable = metadata.variables[static_cast<std::size_t>(id)];
    const Mesh& mesh = metadata.mesh_of(variable);
    if (meshes.insert(mesh.id).second) describe_bp_mesh(io, mesh, metadata);
    const std::string front = bp_name(variable, 0) + "/";
    io.DefineAttribute<std::string>(front + "mesh", mesh.name);
    io.DefineAttribute<std::string>(front + "centering", std::string(name_of(variable.centering, mesh.dimensions)));
    io.DefineAttribute<std::int64_t>(front + "components", variable.components);
    io.DefineAttribute<std::string>(front + "order", variable.order == Order::column ? "column" : "row");
    io.DefineAttribute<std::string>(front + "unit", variable.unit);
    io.DefineAttribute<std::string>(front + "label", variable.title());
  }
}

}  // namespace sidestream
