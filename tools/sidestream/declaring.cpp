#include "declaring.hpp"

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

std::string array_of(const Metadata& metadata, const Mesh& mesh, Role role) {
  const std::int32_t id = mesh.array(role);
  return id < 0 ? std::string() : metadata.variables[static_cast<std::size_t>(id)].name;
}

std::vector<Index> size_of(const Mesh& mesh) {
  std::vector<Index> size;
  for (int a = 0; a < mesh.dimensions; ++a) size.push_back(mesh.declared(mesh.cells).extent(a));
  return size;
}

/// The first entries, one per dimension of the mesh.
template <class T>
std::vector<T> used(const std::array<T, 3>& all, const Mesh& mesh) {
  return {all.begin(), all.begin() + mesh.dimensions};
}

void declare_kind(Session& session, const Metadata& metadata, const Mesh& mesh, const char* of) {
  const auto array = [&](Role role) { return array_of(metadata, mesh, role); };
  switch (mesh.kind()) {
    case MeshKind::uniform: {
      const auto& geometry = static_cast<const UniformGeometry&>(*mesh.geometry);
      return session.add_uniform_mesh(mesh.name, size_of(mesh), used(geometry.origin(), mesh),
                                      used(geometry.spacing(), mesh));
    }
    case MeshKind::rectilinear: {
      const auto& geometry = static_cast<const RectilinearGeometry&>(*mesh.geometry);
      std::vector<std::vector<double>> nodes;
      for (int a = 0; a < mesh.dimensions; ++a) nodes.push_back(geometry.nodes(a));
      return session.add_rectilinear_mesh(mesh.name, nodes);
    }
    case MeshKind::curvilinear:
      return session.add_curvilinear_mesh(mesh.name, size_of(mesh), array(Role::coordinates));
    case MeshKind::unstructured:
      return session.add_unstructured_mesh(mesh.name, mesh.dimensions, array(Role::coordinates),
                                           array(Role::connectivity), array(Role::offsets), array(Role::types));
    case MeshKind::points:
      return session.add_points_mesh(mesh.name, mesh.dimensions, array(Role::coordinates));
    case MeshKind::octree: {
      const auto& geometry = static_cast<const OctreeGeometry&>(*mesh.geometry);
      const Index3& roots = geometry.roots();
      return session.add_octree_mesh(mesh.name, {roots.begin(), roots.begin() + mesh.dimensions},
                                     used(geometry.origin(), mesh), used(geometry.spacing(), mesh),
                                     array(Role::refined));
    }
    case MeshKind::none:
    case MeshKind::other:
      break;
  }
  fail(Code::usage, "mesh '{}' cannot be published again: {} has nothing but its name", mesh.name, of);
}

}  // namespace

void declare_mesh(Session& session, const Metadata& metadata, const Mesh& mesh, const char* of) {
  declare_kind(session, metadata, mesh, of);
  session.set_periodic(mesh.name, mesh.periodic);
  if (mesh.owned_points) session.set_owned_points(mesh.name);
  if (!mesh.refinement.empty()) session.set_refinement(mesh.name, mesh.refinement);
  for (const Role role : {Role::faces, Role::face_offsets, Role::point_ids, Role::cell_ids, Role::point_ghosts,
                          Role::cell_ghosts, Role::owned}) {
    const std::string name = array_of(metadata, mesh, role);
    if (!name.empty()) session.set_mesh_array(mesh.name, role, name);
  }
}

}  // namespace sidestream
