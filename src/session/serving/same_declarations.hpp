// The configurations of a simulation and of its sidecar servers, which may be different files.
#pragma once

#include <string>

#include "config/config.hpp"
#include "session/opening/sidecar_start.hpp"

namespace sidestream {

/// Checks that numbers of meshes, variables and events mean the same on both sides; analyses and outputs may differ.
/// `file`: the servers' configuration. Throws Error(configuration) that names the difference.
void check_same_declarations(const Config& config, const std::string& file, const SidecarSetup& setup);

}  // namespace sidestream
