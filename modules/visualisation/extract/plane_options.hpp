// Planes, as configured.
#pragma once

#include <array>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "visualisation/mesh/plane.hpp"

namespace sidestream {

/// Options `axis`, `position`, `normal` and `origin`.
[[nodiscard]] std::vector<Option> plane_options();
/// Reads the plane. Throws Error(configuration) if the options do not describe one, or if it does not meet the mesh. If
/// the mesh publishes its coordinates, the plane's position must be given.
[[nodiscard]] Plane read_plane(const Settings& settings, const Mesh& mesh);
/// The axis that a normal is parallel to, or -1.
[[nodiscard]] int axis_along(const std::array<double, 3>& normal);

}  // namespace sidestream
