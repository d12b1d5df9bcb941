// Meshes whose nodes have known positions on all levels.
#pragma once

#include <string>

#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream {

/// Fails if no declaration says where the nodes of `mesh` lie: a rectilinear mesh has coordinates of level 0 only.
/// `option` names the mesh, or its variable `name`, in the message.
void require_known_nodes(const Settings& settings, const std::string& option, const Mesh& mesh,
                         const std::string& name = {});

}  // namespace sidestream
