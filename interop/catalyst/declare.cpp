// Declarations of meshes and variables that the ranks have agreed on.
#include "coupling.hpp"

namespace sidestream::catalyst {

namespace {

template <class T>
std::vector<T> first_of(const std::array<T, 3>& all, int count) {
  return {all.begin(), all.begin() + count};
}

Variable variable(const std::string& name, Type type, Centering centering, std::int32_t components) {
  Variable declared;
  declared.name = name;
  declared.type = type;
  declared.centering = centering;
  declared.components = components;
  return declared;
}

}  // namespace

void Coupling::declare(const AgreedMesh& mesh) {
  Session& s = *session_;
  const int n = mesh.dimensions;
  switch (mesh.kind) {
    case MeshKind::uniform:
      s.add_uniform_mesh(mesh.name, first_of(mesh.size, n), first_of(mesh.origin, n), first_of(mesh.spacing, n));
      if (!mesh.ratios.empty()) s.set_refinement(mesh.name, mesh.ratios);
      break;
    case MeshKind::rectilinear:
      s.add_rectilinear_mesh(mesh.name, first_of(mesh.nodes, n));
      break;
    case MeshKind::curvilinear:
      s.add_curvilinear_mesh(mesh.name, first_of(mesh.size, n), mesh.name + "_coordinates");
      s.add_variable(mesh.name,
                     variable(mesh.name + "_coordinates", mesh.place_type, nodes_of(n), mesh.place_components));
      break;
    default:
      declare_lists(mesh);
  }
  for (const AgreedField& field : mesh.fields) {
    Variable declared = variable(field.variable, field.type, field.centering, field.components);
    declared.unit = field.unit;
    s.add_variable(mesh.name, std::move(declared));
  }
}

void Coupling::declare_lists(const AgreedMesh& mesh) {
  Session& s = *session_;
  const auto add = [&](const char* name, Type type, Centering centering, std::int32_t components) {
    s.add_variable(mesh.name, variable(mesh.name + name, type, centering, components));
  };
  if (mesh.kind == MeshKind::points) {
    s.add_points_mesh(mesh.name, mesh.place_components, mesh.name + "_coordinates");
  } else {
    s.add_unstructured_mesh(mesh.name, mesh.place_components, mesh.name + "_coordinates", mesh.name + "_connectivity",
                            mesh.name + "_offsets", mesh.name + "_types");
  }
  add("_coordinates", mesh.place_type, Centering::node, mesh.place_components);
  if (mesh.kind == MeshKind::unstructured) {
    add("_connectivity", Type::int64, Centering::cell, 1);
    add("_offsets", Type::int64, Centering::cell, 1);
    add("_types", Type::uint8, Centering::cell, 1);
  }
  const auto add_role = [&](bool wanted, Role role, const char* name, Type type, Centering centering) {
    if (!wanted) return;
    s.set_mesh_array(mesh.name, role, mesh.name + name);
    add(name, type, centering, 1);
  };
  add_role(mesh.polyhedra, Role::faces, "_faces", Type::int64, Centering::cell);
  add_role(mesh.polyhedra, Role::face_offsets, "_face_offsets", Type::int64, Centering::cell);
  add_role(mesh.point_ghosts, Role::point_ghosts, "_point_ghosts", Type::uint8, Centering::node);
  add_role(mesh.cell_ghosts && mesh.kind == MeshKind::unstructured, Role::cell_ghosts, "_cell_ghosts", Type::uint8,
           Centering::cell);
}

}  // namespace sidestream::catalyst
