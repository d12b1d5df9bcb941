// Declaration of meshes and variables from files, as a program declares them.
#pragma once

#include "sidestream/data/metadata.hpp"
#include "sidestream/sidestream.hpp"

namespace sidestream {

/// Declares a mesh of `metadata`, whose cells begin at 0, with its periodicity, levels and roles of variables. `of`
/// names its source in messages. Throws Error(usage) if only its name is known.
void declare_mesh(Session& session, const Metadata& metadata, const Mesh& mesh, const char* of);

}  // namespace sidestream
