// Planes as the configuration states them.
#pragma once

#include <array>
#include <vector>

#include "mesh/plane.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream {

/// The options `axis`, `position`, `normal` and `origin`.
[[nodiscard]] std::vector<Option> plane_options();
/// The plane that they describe. Throws Error(configuration) if they do not, if it does not meet a mesh of which that
/// is known, and, of meshes that publish where they are, if it is not said where it is.
[[nodiscard]] Plane read_plane(const Settings& settings, const Mesh& mesh);
/// The axis that a normal lies along, or -1.
[[nodiscard]] int axis_along(const std::array<double, 3>& normal);

}  // namespace sidestream
