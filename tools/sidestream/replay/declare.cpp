// Declaration of a database's meshes and variables, as a program declares them.
#include "declaring.hpp"
#include "pieces.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

/// The mesh at another resolution.
Mesh resampled(Mesh mesh, const Resolution& resolution) {
  const Resampling how(mesh, resolution);
  mesh.cells = {{0, 0, 0}, how.size()};
  if (mesh.kind() == MeshKind::uniform) {
    const auto& geometry = static_cast<const UniformGeometry&>(*mesh.geometry);
    std::array<double, 3> spacing{};
    for (int a = 0; a < 3; ++a) spacing[a] = how.spacing(a, geometry.spacing()[a]);
    mesh.geometry = std::make_shared<UniformGeometry>(geometry.origin(), spacing);
  } else if (mesh.kind() == MeshKind::rectilinear) {
    const auto& geometry = static_cast<const RectilinearGeometry&>(*mesh.geometry);
    std::array<std::vector<double>, 3> nodes{std::vector<double>{0, 1}, {0, 1}, {0, 1}};
    for (int a = 0; a < mesh.dimensions; ++a) nodes[a] = how.nodes(a, geometry.nodes(a));
    mesh.geometry = std::make_shared<RectilinearGeometry>(Index3{0, 0, 0}, std::move(nodes));
  }
  return mesh;
}

}  // namespace

void Replayer::declare(Session& session) const {
  for (const Mesh& mesh : metadata_.meshes) {
    if (!is_divided(mesh) && !resolution_.is_stored()) {
      fail(Code::usage,
           "mesh '{}' is replayed in the blocks that were stored, which have one resolution; leave out --coarsen and "
           "--refine",
           mesh.name);
    }
    declare_mesh(session, metadata_, mesh.is_list() ? mesh : resampled(mesh, resolution_), "the database");
  }
  for (const Variable& variable : metadata_.variables) {
    session.add_variable(metadata_.mesh_of(variable).name, variable);
  }
}

}  // namespace sidestream
