// One mesh of the configuration.
#pragma once

#include <vector>

#include "config/document.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/extend/options.hpp"

namespace sidestream {

/// The mesh that the settings of an entry under `meshes:` describe; its id is left at -1. Throws
/// Error(configuration).
[[nodiscard]] Mesh make_mesh(const std::string& name, const Settings& settings);

/// The options of an entry under `meshes:`; which `coordinates` is depends on its type.
[[nodiscard]] std::vector<Option> mesh_options(const Node& entry);

/// Whether both have the same cells and the same nodes.
[[nodiscard]] bool same_mesh(const Mesh& a, const Mesh& b);

}  // namespace sidestream
