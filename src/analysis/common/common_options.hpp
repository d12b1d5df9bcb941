// Options that several analyses have, and their values, checked against the declarations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sidestream/extend/analysis.hpp"

namespace sidestream {

[[nodiscard]] Option variable_option(const std::string& text);
[[nodiscard]] Option component_option(const std::string& text);
/// `choices` has the ending of the default: what is written there is what that format is for. An analysis that also
/// writes something else adds an ending for it; without any, all formats pass.
[[nodiscard]] Option file_option(const std::string& default_value, const std::string& text);
/// A place, a corner or the like: a real for each of 1 to 3 axes.
[[nodiscard]] Option place_option(const char* name, const char* text, bool required = true);
/// `size` of a grid, of 1 to 3 axes, and of a picture.
[[nodiscard]] Option grid_size_option();
[[nodiscard]] Option picture_size_option();
/// `precision` of a surface's points and normals, and whether it is single.
[[nodiscard]] Option precision_option();
[[nodiscard]] bool read_single(const Settings& settings);
/// `pieces`, and its value.
[[nodiscard]] Option pieces_option();
[[nodiscard]] Pieces read_pieces(const Settings& settings);

/// The variable that `variable` names.
[[nodiscard]] const Variable& read_variable(const Settings& settings, const Metadata& metadata);
/// The value of `component`, if given. Throws Error(configuration) if the variable has no such component.
[[nodiscard]] std::optional<int> read_component(const Settings& settings, const Variable& variable);
/// The same where one component is needed: 0 for a scalar, otherwise it must be given.
[[nodiscard]] int read_one_component(const Settings& settings, const Variable& variable);
/// The variables listed under `fields`. Throws Error(configuration) if one lies on another mesh than
/// `variable`.
[[nodiscard]] std::vector<std::int32_t> read_fields(const Settings& settings, const Variable& variable,
                                                    const Metadata& metadata);
/// Throws Error(configuration) for variables at faces or edges.
void require_cells_or_nodes(const Settings& settings, const std::string& option, const Variable& variable,
                            const Metadata& metadata);
/// Throws Error(configuration) unless surfaces can be taken of the variable: its mesh has two or three dimensions, one
/// level, and is uniform, rectilinear, curvilinear or unstructured. `what` names the analysis.
void require_cells_between(const Settings& settings, const Variable& variable, const Metadata& metadata,
                           const std::string& what);

/// Throws Error(configuration) for variables that do not lie in cells. `what` names the analysis.
void require_values_in_cells(const Settings& settings, const std::string& option, const Variable& variable,
                             const Mesh& mesh, const std::string& what);

/// Whether a mesh is a tree or has refinement levels.
[[nodiscard]] bool has_levels(const Mesh& mesh) noexcept;
/// As require_cells_between, and on such meshes: variables in cells, patches of uniform meshes.
void require_surfaces(const Settings& settings, const Variable& variable, const Metadata& metadata,
                      const std::string& what);
/// Throws Error(configuration) for variables that do not lie in cells.
void require_in_cells(const Settings& settings, const std::string& option, const Variable& variable, const Mesh& mesh);

}  // namespace sidestream
