// Meshes and variables out of files, as a program declares them.
#pragma once

#include "sidestream/data/metadata.hpp"
#include "sidestream/sidestream.hpp"

namespace sidestream {

/// Declares a mesh of `metadata`, whose cells begin at 0, and what lies beyond its kind: periodicity, levels, roles of
/// variables. `of` names where it comes from in messages. Throws Error(usage) where nothing is known but its name.
void declare_mesh(Session& session, const Metadata& metadata, const Mesh& mesh, const char* of);

}  // namespace sidestream
