// One mesh of the configuration.
#pragma once

#include <string>
#include <vector>

#include "config/options/document.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/extend/options.hpp"

namespace sidestream {

/// Makes the mesh described by an entry under `meshes:`; its id is left at -1. Throws Error(configuration).
[[nodiscard]] Mesh make_mesh(const std::string& name, const Settings& settings);

/// The options of an entry under `meshes:`; the meaning of `coordinates` depends on its type.
[[nodiscard]] std::vector<Option> mesh_options(const Node& entry);

/// The first property in which two declarations of one mesh differ, in a word; empty if they agree.
[[nodiscard]] std::string difference_of(const Mesh& a, const Mesh& b);

}  // namespace sidestream
