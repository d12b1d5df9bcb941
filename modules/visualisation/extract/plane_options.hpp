// Planes, as configured.
#pragma once

#include <array>
#include <optional>

#include "sidestream/extend/option_table.hpp"
#include "visualisation/mesh/plane.hpp"

namespace sidestream {

/// A plane as it is written.
struct PlaneOptions {
  std::optional<int> axis{};
  std::optional<double> position{};
  std::optional<std::array<double, 3>> normal{}, origin{};
};

[[nodiscard]] const OptionTable<PlaneOptions>& plane_options();
/// The plane that is written. Throws Error(configuration) if the options do not describe one, or if it does not meet
/// the mesh. If the mesh publishes its coordinates, the plane's position must be given.
[[nodiscard]] Plane read_plane(const Settings& settings, const PlaneOptions& options, const Mesh& mesh);
/// The axis that a normal is parallel to, or -1.
[[nodiscard]] int axis_along(const std::array<double, 3>& normal);

}  // namespace sidestream
