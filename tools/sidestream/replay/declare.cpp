// Meshes and variables of a database as a program declares them.
#include "base/fail.hpp"
#include "pieces.hpp"

namespace sidestream {

namespace {

std::string array_of(const Metadata& metadata, const Mesh& mesh, Role role) {
  const std::int32_t id = mesh.array(role);
  return id < 0 ? std::string() : metadata.variables[static_cast<std::size_t>(id)].name;
}

void declare_uniform(Session& session, const Mesh& mesh, const UniformGeometry& geometry, const Resampling& how) {
  std::vector<Index> size;
  std::vector<double> origin, spacing;
  for (int a = 0; a < mesh.dimensions; ++a) {
    size.push_back(how.size()[a]);
    origin.push_back(geometry.origin()[a]);
    spacing.push_back(how.spacing(a, geometry.spacing()[a]));
  }
  session.add_uniform_mesh(mesh.name, size, origin, spacing);
}

void declare_rectilinear(Session& session, const Mesh& mesh, const RectilinearGeometry& geometry,
                         const Resampling& how) {
  std::vector<std::vector<double>> nodes;
  for (int a = 0; a < mesh.dimensions; ++a) nodes.push_back(how.nodes(a, geometry.nodes(a)));
  session.add_rectilinear_mesh(mesh.name, nodes);
}

void declare_octree(Session& session, const Mesh& mesh, const OctreeGeometry& geometry, const std::string& refined) {
  std::vector<Index> roots;
  std::vector<double> origin, spacing;
  for (int a = 0; a < mesh.dimensions; ++a) {
    roots.push_back(geometry.roots()[a]);
    origin.push_back(geometry.origin()[a]);
    spacing.push_back(geometry.spacing()[a]);
  }
  session.add_octree_mesh(mesh.name, roots, origin, spacing, refined);
}

}  // namespace

void Replayer::declare_mesh(Session& session, const Mesh& mesh) const {
  const auto array = [&](Role role) { return array_of(metadata_, mesh, role); };
  if (!is_divided(mesh) && !resolution_.is_stored()) {
    fail(Code::usage,
         "mesh '{}' is replayed in the blocks that were stored, which have one resolution; leave out --coarsen and "
         "--refine",
         mesh.name);
  }
  switch (mesh.kind()) {
    case MeshKind::uniform:
      return declare_uniform(session, mesh, static_cast<const UniformGeometry&>(*mesh.geometry), {mesh, resolution_});
    case MeshKind::rectilinear:
      return declare_rectilinear(session, mesh, static_cast<const RectilinearGeometry&>(*mesh.geometry),
                                 {mesh, resolution_});
    case MeshKind::curvilinear: {
      const Index3 size = Resampling(mesh, resolution_).size();
      return session.add_curvilinear_mesh(mesh.name, {size.begin(), size.begin() + mesh.dimensions},
                                          array(Role::coordinates));
    }
    case MeshKind::unstructured:
      return session.add_unstructured_mesh(mesh.name, mesh.dimensions, array(Role::coordinates),
                                           array(Role::connectivity), array(Role::offsets), array(Role::types));
    case MeshKind::points:
      return session.add_points_mesh(mesh.name, mesh.dimensions, array(Role::coordinates));
    case MeshKind::octree:
      return declare_octree(session, mesh, static_cast<const OctreeGeometry&>(*mesh.geometry), array(Role::refined));
    case MeshKind::none:
    case MeshKind::other:
      break;
  }
  fail(Code::usage, "mesh '{}' cannot be replayed: the database has nothing but its name", mesh.name);
}

void Replayer::declare(Session& session) const {
  for (const Mesh& mesh : metadata_.meshes) {
    declare_mesh(session, mesh);
    session.set_periodic(mesh.name, mesh.periodic);
    if (!mesh.refinement.empty()) session.set_refinement(mesh.name, mesh.refinement);
    for (const Role role : {Role::faces, Role::face_offsets, Role::point_ids, Role::cell_ids, Role::point_ghosts,
                            Role::cell_ghosts, Role::owned}) {
      const std::string name = array_of(metadata_, mesh, role);
      if (!name.empty()) session.set_mesh_array(mesh.name, role, name);
    }
  }
  for (const Variable& variable : metadata_.variables) {
    session.add_variable(metadata_.mesh_of(variable).name, variable);
  }
}

}  // namespace sidestream
