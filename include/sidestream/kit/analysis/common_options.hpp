// Options shared by several analyses, and their values, checked against the declarations.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/option_table.hpp"

namespace sidestream {

[[nodiscard]] Option variable_option(const std::string& text);
[[nodiscard]] Option component_option(const std::string& text);
/// The option `file`. `choices` contains the default's extension, the format that the analysis is meant to write. An
/// analysis that supports other formats adds their extensions. Without any extension, all formats are accepted.
[[nodiscard]] Option file_option(const std::string& default_value, const std::string& text);
/// A position or corner: a real for each of 1 to 3 axes.
[[nodiscard]] Option place_option(const char* name, const char* text, bool required = true);
/// The option `size` of a grid with 1 to 3 axes, and the one of an image.
[[nodiscard]] Option grid_size_option();
[[nodiscard]] Option picture_size_option();
/// The option `precision` for a surface's points and normals; true if it is single.
[[nodiscard]] Option precision_option();
[[nodiscard]] bool read_single(const Settings& settings);
/// The option `pieces`, and its value.
[[nodiscard]] Option pieces_option();
[[nodiscard]] Pieces read_pieces(const Settings& settings);

/// The variable named by `variable`.
[[nodiscard]] const Variable& read_variable(const Settings& settings, const Metadata& metadata);
/// The value of `component`, if given. Throws Error(configuration) if the variable has no such component.
[[nodiscard]] std::optional<int> read_component(const Settings& settings, const Variable& variable);
/// The value for analyses that need one component. It is 0 for a scalar and must be given otherwise.
[[nodiscard]] int read_one_component(const Settings& settings, const Variable& variable);
/// The variables listed in `fields`. Throws Error(configuration) if one lies on another mesh than `variable`.
[[nodiscard]] std::vector<std::int32_t> read_fields(const Settings& settings, const Variable& variable,
                                                    const Metadata& metadata);

/// The options above, bound to fields; `variable` is bound before options that depend on it.
template <class Owner>
[[nodiscard]] OptionField<Owner> variable_option(Variable Owner::*variable, const std::string& text) {
  return option("variable", variable, text, {.required = true});
}
template <class Owner, class Base>
[[nodiscard]] OptionField<Owner> component_option(std::optional<int> Owner::*component, Variable Base::*variable,
                                                  const std::string& text) {
  return options_read_by([=](const Settings& settings, const Metadata&,
                             const Owner& owner) { return read_component(settings, owner.*variable); },
                         {component_option(text)}, component);
}
template <class Owner, class Base>
[[nodiscard]] OptionField<Owner> one_component_option(
    int Owner::*component, Variable Base::*variable,
    const std::string& text = "The variable's component, from 0; required if it has several.") {
  return options_read_by([=](const Settings& settings, const Metadata&,
                             const Owner& owner) { return read_one_component(settings, owner.*variable); },
                         {component_option(text)}, component);
}
/// `others` are further extensions.
template <class Owner>
[[nodiscard]] OptionField<Owner> file_option(std::string Owner::*file, const std::string& standard,
                                             const std::string& text, const std::vector<std::string>& others = {},
                                             const std::string& name = "file") {
  std::vector<std::string> choices = file_option(standard, text).choices;
  choices.insert(choices.end(), others.begin(), others.end());
  return option<OptionType::file>(name, file, text, {.standard = standard, .choices = choices});
}
template <class Owner>
[[nodiscard]] OptionField<Owner> place_option(const std::string& name, std::vector<double> Owner::*place,
                                              const std::string& text, bool required = true) {
  return option(name, place, text, {.required = required, .least_entries = 1, .most_entries = 3});
}
template <class Owner>
[[nodiscard]] OptionField<Owner> grid_size_option(std::vector<Index> Owner::*size, bool required = true) {
  return option("size", size, grid_size_option().text,
                {.required = required, .minimum = 1, .maximum = 1 << 20, .least_entries = 1, .most_entries = 3});
}
template <class Owner>
[[nodiscard]] OptionField<Owner> pieces_option(Pieces Owner::*pieces) {
  return options_read_by(read_pieces, {pieces_option()}, pieces);
}
template <class Owner>
[[nodiscard]] OptionField<Owner> precision_option(bool Owner::*single) {
  return options_read_by(read_single, {precision_option()}, single);
}

/// A mesh of lists in space that a result becomes, with these variables.
[[nodiscard]] ResultMesh result_lists(MeshKind kind, const std::vector<Variable>& variables = {});
/// The mesh of a surface. Besides these variables it has `size` in cells: the area of a triangle, the length of a line.
[[nodiscard]] ResultMesh result_surface(std::vector<Variable> variables);
/// A uniform grid that a result becomes: by axis the number of cells, the lower and the upper corner.
[[nodiscard]] ResultMesh result_grid(const std::vector<Index>& size, const std::array<double, 3>& low,
                                     const std::array<double, 3>& high);
/// An array of a result that comes from a variable: float64 with its components, unit and label.
[[nodiscard]] Variable result_variable(const Variable& of, Centering centering);

/// Throws Error(configuration) for variables at faces or edges.
void require_cells_or_nodes(const Settings& settings, const std::string& option, const Variable& variable,
                            const Metadata& metadata);
/// Throws Error(configuration) unless surfaces of the variable can be extracted: its mesh must have two or three
/// dimensions, one level, and be uniform, rectilinear, curvilinear or unstructured. `what` names the analysis.
void require_cells_between(const Settings& settings, const Variable& variable, const Metadata& metadata,
                           const std::string& what);

/// Throws Error(configuration) for variables that do not lie in cells. `what` names the analysis.
void require_values_in_cells(const Settings& settings, const std::string& option, const Variable& variable,
                             const Mesh& mesh, const std::string& what);

/// True if a mesh is a tree or has refinement levels.
[[nodiscard]] bool has_levels(const Mesh& mesh) noexcept;
/// Like require_cells_between, but also allows such meshes for variables in cells and for patches of uniform meshes.
void require_surfaces(const Settings& settings, const Variable& variable, const Metadata& metadata,
                      const std::string& what);
/// Throws Error(configuration) for variables that do not lie in cells.
void require_in_cells(const Settings& settings, const std::string& option, const Variable& variable, const Mesh& mesh);

}  // namespace sidestream
