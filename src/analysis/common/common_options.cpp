#include "sidestream/kit/analysis/common_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "data/mesh_space.hpp"

namespace sidestream {

Option variable_option(const std::string& text) {
  return {.name = "variable", .type = OptionType::variable, .required = true, .text = text};
}

Option component_option(const std::string& text) {
  return {.name = "component", .type = OptionType::integer, .text = text, .minimum = 0};
}

Option file_option(const std::string& default_value, const std::string& text) {
  Option option{.name = "file", .type = OptionType::file, .default_value = default_value, .text = text};
  if (!default_value.empty()) option.choices = {std::filesystem::path(default_value).extension().string()};
  return option;
}

Option place_option(const char* name, const char* text, bool required) {
  return {.name = name,
          .type = OptionType::real,
          .list = true,
          .required = required,
          .text = text,
          .least_entries = 1,
          .most_entries = 3};
}

Option grid_size_option() {
  return {.name = "size",
          .type = OptionType::integer,
          .list = true,
          .required = true,
          .text = "Number of cells of the grid along each axis of the mesh.",
          .minimum = 1,
          .maximum = 1 << 20,
          .least_entries = 1,
          .most_entries = 3};
}

Option picture_size_option() {
  return {.name = "size",
          .type = OptionType::integer,
          .list = true,
          .default_value = "[1024, 1024]",
          .text = "Width and height of the image in pixels.",
          .minimum = 16,
          .maximum = 16384,
          .least_entries = 2,
          .most_entries = 2};
}

Option precision_option() {
  return {.name = "precision",
          .type = OptionType::choice,
          .default_value = "single",
          .text =
              "Precision of the points and normals in files: `single` (32 bits, seven digits) or `double`, for "
              "meshes whose cells are small compared with their distance from the origin, or for further "
              "computations.",
          .choices = {"single", "double"}};
}

bool read_single(const Settings& settings) { return settings.text("precision") == "single"; }

ResultMesh result_lists(MeshKind kind, const std::vector<Variable>& variables) {
  ResultMesh made;
  made.mesh.geometry = std::make_shared<ArrayGeometry>(kind);
  made.variables = variables;
  return made;
}

ResultMesh result_surface(std::vector<Variable> variables) {
  Variable size;
  size.name = "size";
  size.centering = Centering::cell;
  variables.push_back(size);
  return result_lists(MeshKind::unstructured, variables);
}

ResultMesh result_grid(const std::vector<Index>& size, const std::array<double, 3>& low,
                       const std::array<double, 3>& high) {
  ResultMesh made;
  made.mesh.cells = {{0, 0, 0}, {1, 1, 1}};
  made.mesh.dimensions = static_cast<int>(size.size());
  std::array<double, 3> origin{0, 0, 0}, spacing{1, 1, 1};
  for (std::size_t a = 0; a < size.size(); ++a) {
    made.mesh.cells.hi[a] = size[a];
    origin[a] = low[a];
    spacing[a] = (high[a] - low[a]) / static_cast<double>(size[a]);
  }
  made.mesh.geometry = std::make_shared<UniformGeometry>(origin, spacing);
  return made;
}

Variable result_variable(const Variable& of, Centering centering) {
  Variable made;
  made.name = of.name;
  made.components = of.components;
  made.unit = of.unit;
  made.label = of.label;
  made.centering = centering;
  return made;
}

Option pieces_option() {
  return {.name = "pieces",
          .type = OptionType::choice,
          .default_value = "auto",
          .text =
              "`true`: every server writes a piece, and the first one a file that lists them. `false`: one server "
              "writes one file, for which it must hold the whole result. `auto`: pieces for results larger than 64 "
              "MiB. docs/formats.md describes the files.",
          .choices = {"auto", "true", "false"}};
}

Pieces read_pieces(const Settings& settings) {
  const std::string& pieces = settings.text("pieces");
  return pieces == "true" ? Pieces::always : pieces == "false" ? Pieces::never : Pieces::automatic;
}

const Variable& read_variable(const Settings& settings, const Metadata& metadata) {
  const std::string& name = settings.text("variable");
  if (const Variable* variable = metadata.find_variable(name)) return *variable;
  settings.fail("variable", fmt::format("there is no variable '{}'; declare it under `variables`", name));
}

std::optional<int> read_component(const Settings& settings, const Variable& variable) {
  if (!settings.has("component")) return std::nullopt;
  const std::int64_t component = settings.integer("component");
  if (component >= 0 && component < variable.components) return static_cast<int>(component);
  settings.fail("component", fmt::format("component {} of '{}' does not exist; it has {} (numbered from 0)", component,
                                         variable.name, variable.components));
}

int read_one_component(const Settings& settings, const Variable& variable) {
  if (const std::optional<int> component = read_component(settings, variable)) return *component;
  if (variable.components == 1) return 0;
  settings.fail("component", fmt::format("'{}' has {} components; say which one, `component: 0` to `component: {}`",
                                         variable.name, variable.components, variable.components - 1));
}

std::vector<std::int32_t> read_fields(const Settings& settings, const Variable& variable, const Metadata& metadata) {
  std::vector<std::int32_t> ids;
  for (const std::string& name : settings.texts("fields")) {
    const Variable* field = metadata.find_variable(name);
    if (field == nullptr) {
      settings.fail("fields", fmt::format("there is no variable '{}'; declare it under `variables`", name));
    }
    if (field->mesh != variable.mesh) {
      settings.fail("fields",
                    fmt::format("'{}' lies on mesh '{}', but '{}' on '{}'; name variables of one mesh", name,
                                metadata.mesh_of(*field).name, variable.name, metadata.mesh_of(variable).name));
    }
    require_cells_or_nodes(settings, "fields", *field, metadata);
    if (std::find(ids.begin(), ids.end(), field->id) != ids.end()) {
      settings.fail("fields", fmt::format("'{}' is named twice; name each variable once", name));
    }
    ids.push_back(field->id);
  }
  return ids;
}

void require_cells_or_nodes(const Settings& settings, const std::string& option, const Variable& variable,
                            const Metadata& metadata) {
  const int dimensions = metadata.mesh_of(variable).dimensions;
  if (variable.centering == Centering::cell || variable.centering == nodes_of(dimensions)) return;
  settings.fail(option, fmt::format("'{}' lies at {}s; values in between are known for variables in cells and at nodes "
                                    "only: average it in the simulation, or name another variable",
                                    variable.name, name_of(variable.centering, dimensions)));
}

void require_cells_between(const Settings& settings, const Variable& variable, const Metadata& metadata,
                           const std::string& what) {
  const Mesh& mesh = metadata.mesh_of(variable);
  if (mesh.dimensions < 2) {
    settings.fail("variable",
                  fmt::format("'{}' lies on mesh '{}', which has one dimension; {} needs a mesh of two or three. "
                              "Write '{}' as it is, under `outputs`, or take its `statistics` or `histogram`",
                              variable.name, mesh.name, what, variable.name));
  }
  require_cells_or_nodes(settings, "variable", variable, metadata);
  if (lies_in_space(metadata, mesh)) {
    settings.fail("variable", fmt::format("'{}' lies on mesh '{}', which is a surface in space; {} needs a mesh of as "
                                          "many coordinates as axes. Write `threshold`, which takes its cells",
                                          variable.name, mesh.name, what));
  }
  if (!mesh.refinement.empty()) {
    settings.fail("variable", fmt::format("'{}' lies on mesh '{}', which has refinement levels; {} needs a mesh of one "
                                          "level",
                                          variable.name, mesh.name, what));
  }
  if (mesh.axes() == nullptr && mesh.kind() != MeshKind::curvilinear && mesh.kind() != MeshKind::unstructured) {
    settings.fail("variable",
                  fmt::format("'{}' lies on mesh '{}' of type '{}'; {} needs a uniform, rectilinear, "
                              "curvilinear or unstructured mesh",
                              variable.name, mesh.name, mesh.geometry ? mesh.geometry->kind() : "none", what));
  }
}

bool has_levels(const Mesh& mesh) noexcept { return mesh.kind() == MeshKind::octree || !mesh.refinement.empty(); }

void require_values_in_cells(const Settings& settings, const std::string& option, const Variable& variable,
                             const Mesh& mesh, const std::string& what) {
  if (variable.centering == Centering::cell) return;
  settings.fail(option, fmt::format("'{}' lies at {}s; {} needs values in cells", variable.name,
                                    name_of(variable.centering, mesh.dimensions), what));
}

void require_in_cells(const Settings& settings, const std::string& option, const Variable& variable, const Mesh& mesh) {
  if (variable.centering == Centering::cell) return;
  if (mesh.kind() != MeshKind::octree && variable.centering == nodes_of(mesh.dimensions)) return;
  settings.fail(
      option,
      fmt::format(
          "'{}' lies at {} of mesh '{}', {}; surfaces there run through the centres of cells: "
          "average it to them in the simulation",
          variable.name,
          mesh.kind() == MeshKind::octree ? "points" : fmt::format("{}s", name_of(variable.centering, mesh.dimensions)),
          mesh.name, mesh.kind() == MeshKind::octree ? "an octree" : "which has refinement levels"));
}

void require_surfaces(const Settings& settings, const Variable& variable, const Metadata& metadata,
                      const std::string& what) {
  const Mesh& mesh = metadata.mesh_of(variable);
  if (!has_levels(mesh) || mesh.dimensions < 2) return require_cells_between(settings, variable, metadata, what);
  require_cells_or_nodes(settings, "variable", variable, metadata);
  if (mesh.kind() != MeshKind::octree && mesh.kind() != MeshKind::uniform) {
    settings.fail("variable",
                  fmt::format("'{}' lies on mesh '{}' of type '{}' with refinement levels; {} needs a "
                              "uniform mesh or an octree there",
                              variable.name, mesh.name, mesh.geometry ? mesh.geometry->kind() : "none", what));
  }
  require_in_cells(settings, "variable", variable, mesh);
}

}  // namespace sidestream
