// Arrays with a mesh's positions: their variables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sidestream/data/metadata.hpp"
#include "sidestream/data/selection.hpp"

namespace sidestream {

/// The role of that name, or nothing; `none` has no name.
[[nodiscard]] std::optional<Role> role_named(std::string_view name) noexcept;

/// True if meshes of that kind have arrays of the role.
[[nodiscard]] bool knows_role(MeshKind kind, Role role) noexcept;

/// Gives a variable a role on its mesh. A role determines where the values lie on the mesh, whatever the variable's
/// declaration says. Throws Error(configuration) if there is no such mesh or variable, if the variable lies on another
/// mesh or does not fit the role, or if the mesh or the variable already has another one.
void assign_role(Metadata& metadata, const std::string& mesh, Role role, const std::string& variable);

/// Throws Error(configuration) unless the mesh has the arrays that its kind needs and its variables lie where it has
/// points.
void check_arrays(const Metadata& metadata, const Mesh& mesh);

// Cell types, with VTK's numbers.

inline constexpr std::uint8_t vtk_polyhedron_type = 42;

/// Number of points of a cell of that type. 0 for types with any number of points, and for unknown types.
[[nodiscard]] constexpr int points_of_cell_type(std::uint8_t type) noexcept {
  constexpr int points[] = {
      0, 1,  0, 2,  0,  3,  0,  0, 4, 4,  4, 8, 8, 6, 5, 10, 12,  // none, vertex, ..., line, ..., triangle, ..., prisms
      0, 0,  0, 0,                                                // 17 to 20: none
      3, 6,  8, 10, 20, 15, 13,            // quadratic: edge, triangle, quad, tetra, hex, wedge, pyramid
      9, 27, 6, 12, 18, 24, 7,  4, 0, 19,  // biquadratic quad, ..., cubic line, polygon, pyramid
  };
  return type < sizeof points / sizeof points[0] ? points[type] : 0;
}

// Checks of an analysis' selection.

/// Throws Error(usage) if the selection names variables or components that do not exist. Throws Error(configuration) if
/// it asks for values around blocks that are lists, or for pieces that the mesh cannot have.
void check_selection(const Selection& selection, const Metadata& metadata);

}  // namespace sidestream
