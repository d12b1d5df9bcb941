// One mesh of the configuration.
#pragma once

#include <string>
#include <vector>

#include "config/options/document.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/extend/options.hpp"

namespace sidestream {

/// The mesh that the settings of an entry under `meshes:` describe; its id is left at -1. Throws
/// Error(configuration).
[[nodiscard]] Mesh make_mesh(const std::string& name, const Settings& settings);

/// The options of an entry under `meshes:`; which `coordinates` is depends on its type.
[[nodiscard]] std::vector<Option> mesh_options(const Node& entry);

/// What two declarations of one mesh do not have in common, in a word; empty if they say the same.
[[nodiscard]] std::string difference_of(const Mesh& a, const Mesh& b);

}  // namespace sidestream
