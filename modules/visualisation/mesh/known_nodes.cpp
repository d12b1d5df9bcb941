#include "visualisation/mesh/known_nodes.hpp"

#include <fmt/format.h>

namespace sidestream {

void require_known_nodes(const Settings& settings, const std::string& option, const Mesh& mesh,
                         const std::string& name) {
  if (mesh.kind() != MeshKind::rectilinear || mesh.refinement.empty()) return;
  settings.fail(option, fmt::format("{}mesh '{}'{} is rectilinear and has refinement levels: nothing says where the "
                                    "nodes of finer levels lie; use {} mesh",
                                    name.empty() ? "" : fmt::format("'{}' lies on ", name), mesh.name,
                                    name.empty() ? "" : ", which", name.empty() ? "another" : "a variable on another"));
}

}  // namespace sidestream
