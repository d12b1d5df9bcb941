#include "config/opening.hpp"

#include <algorithm>

#include "config/attributes.hpp"
#include "config/expressions/relations.hpp"
#include "config/meshes.hpp"
#include "config/options/document.hpp"
#include "config/sections.hpp"
#include "data/mesh_arrays.hpp"
#include "sidestream/error.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

/// The entries of a section of named maps.
const std::vector<Entry>& named_entries(const Document& document, const std::string& name) {
  static const std::vector<Entry> none;
  const Entry* found = document.root().find(name);
  if (found == nullptr || found->value.kind == Node::Kind::null) return none;
  if (found->value.kind != Node::Kind::map) {
    fail_at(found->value.where,
            "found {} for '{}', expected a map from names to descriptions; write '{}: {{NAME: {{...}}}}'",
            found->value.description(), name, name);
  }
  return found->value.entries;
}

/// Relations between values in trees, which codecs of databases may use.
OptionTable<VariableRelations> relation_options() {
  return {
      option("parent", &VariableRelations::parent,
             "In cells of an octree: how a parent's value follows from its children's. `mean`; `sum`, for amounts in a "
             "cell; `mean of` a sum of products, such as `mean of density * velocity`. Codecs of databases predict "
             "with it; where it does not hold nothing is lost."),
      option("equals", &VariableRelations::equals,
             "In cells of an octree: the value as a sum of products of others in the same cell, such as `pressure / "
             "0.4 + 0.5 * density * velocity.x^2`. For the same purpose."),
      option<OptionType::choice>(
          "face", &VariableRelations::face,
          "In cells of an octree: the face of the cell over which the value is the mean of a vector's component along "
          "that axis. For the same purpose.",
          {.choices = {"low-x", "high-x", "low-y", "high-y", "low-z", "high-z"}}),
      option("opposite", &VariableRelations::opposite,
             "With `face`: the variable of the same component on the opposite face."),
      option("divergence_free", &VariableRelations::divergence_free,
             "With `face`: the variables of the other components, on the low and high face of each other axis, if the "
             "vector has no divergence. Cells are cubes.",
             {.most_entries = 4})};
}

/// The place of a variable's values, and their type.
OptionTable<Variable> array_options() {
  const auto mesh_id = [](const Settings& settings, const Metadata& metadata, const Variable&) {
    return metadata.find_mesh(settings.text("mesh"))->id;
  };
  const auto reduce = [](const Settings& settings, const std::string& name, const Metadata& metadata,
                         Variable& variable) {
    const Mesh& mesh = metadata.mesh_of(variable);
    if (mesh.owned_points && !settings.given(name)) variable.centering = Centering::node;
    variable.centering = reduced(variable.centering, mesh.dimensions);
  };
  std::vector<std::pair<std::string, Type>> types;
  for (int n = 0; n < type_count; ++n) types.emplace_back(name_of(static_cast<Type>(n)), static_cast<Type>(n));
  return {
      options_read_by(
          mesh_id,
          {{.name = "mesh", .type = OptionType::mesh, .required = true, .text = "The mesh whose points have values."}},
          &Variable::mesh),
      option("type", &Variable::type, "Type of one element of the program's array.",
             {.standard = "float64", .choices = types}),
      option(
          "centering", &Variable::centering,
          "The positions of values: in `cell`s, at each `node` (one more along each axis), at the faces normal to an "
          "axis (one more along it) or at the edges along an axis (one more along the others). Unused axes have no "
          "further points.",
          {.standard = "cell",
           .choices = {{"cell", Centering::cell},
                       {"node", Centering::node},
                       {"x-face", Centering::x_face},
                       {"y-face", Centering::y_face},
                       {"z-face", Centering::z_face},
                       {"x-edge", Centering::x_edge},
                       {"y-edge", Centering::y_edge},
                       {"z-edge", Centering::z_edge}}})
          .then(reduce)};
}

const OptionTable<Variable>& variable_table() {
  static const OptionTable<Variable> all = array_options().add(
      {option("components", &Variable::components, "Values at each point, next to each other in memory.",
              {.standard = 1, .minimum = 1, .maximum = 1024}),
       option("order", &Variable::order,
              "The fastest index in memory. `column`: i, as in Fortran a(i,j,k) and C a[k][j][i]. `row`: k, as in C "
              "a[i][j][k].",
              {.standard = "column", .choices = {{"column", Order::column}, {"row", Order::row}}}),
       option("unit", &Variable::unit, "Unit for labels and files."),
       option("label", &Variable::label, "Name in captions; if left out the variable's name."),
       options_read_by(read_attributes,
                       {attributes_option("Further attributes, a text or a number each, for HDF5, NetCDF and Zarr "
                                          "files and databases: `{standard_name: air_temperature, valid_min: 0}`.")},
                       &Variable::attributes),
       option("group", &Variable::group, "Folder of the variable in files that have folders."),
       option("time_varying", &Variable::time_varying, "`false`: published once and kept until it is published again.",
              {.standard = true}),
       option<OptionType::choice>(
           "ghosts", &Variable::filled,
           "The content of published arrays outside their blocks. `filled`: the value at a point that another block "
           "owns is bit by bit that block's, also at periodic images and at shared nodes; halos for analyses are then "
           "read there. `untrusted`: halos come from the blocks that own the points.",
           {.standard = "untrusted", .choices = {{"untrusted", false}, {"filled", true}}}),
       options_of(&Variable::relations, relation_options())});
  return all;
}

/// True if two labels agree; one side may omit labels.
bool agree(const std::string& a, const std::string& b) { return a.empty() || b.empty() || a == b; }

/// True if both have the same centring. A role implies the centring of its variable.
bool same_points(const Variable& a, const Variable& b) {
  return a.centering == b.centering || a.role != Role::none || b.role != Role::none;
}

bool agree(const Variable& a, const Variable& b) {
  return a.mesh == b.mesh && a.type == b.type && same_points(a, b) && a.components == b.components &&
         a.order == b.order && a.time_varying == b.time_varying && agree(a.unit, b.unit) && agree(a.label, b.label) &&
         agree(a.group, b.group) && (a.relations.empty() || b.relations.empty() || a.relations == b.relations);
}

template <class Declared>
Declared* find(std::vector<Declared>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Declared& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

template <class Declared>
void append(std::vector<Declared>& all, Declared one) {
  one.id = static_cast<std::int32_t>(all.size());
  all.push_back(std::move(one));
}

/// The place of a named entry, for messages.
Location place_of(const Document& document, const std::string& section_name, const std::string& name) {
  for (const Entry& entry : named_entries(document, section_name)) {
    if (entry.key == name) return entry.where;
  }
  return {};
}

[[noreturn]] void disagreement(const Document& document, const std::string& kind, const std::string& name,
                               const std::string& what = {}) {
  fail_at(place_of(document, kind == "mesh" ? "meshes" : "variables", name),
          "found the {} '{}', which the program declares differently{}, expected the same; correct one or remove the "
          "entry from the file",
          kind, name, what);
}

/// Reads the meshes of the file, which become the first of `metadata`, and returns their settings.
std::vector<Settings> read_meshes(Metadata& metadata, const Document& document, const ReadContext& context,
                                  const Metadata& declared) {
  std::vector<Settings> all;
  for (const Entry& entry : named_entries(document, "meshes")) {
    check_name(entry.key, "mesh", entry.where);
    const Settings settings = read_settings(entry.value, mesh_options(entry.value),
                                            fmt::format("the mesh '{}'", entry.key), entry.where, context);
    append(metadata.meshes, make_mesh(entry.key, settings));
    all.push_back(settings);
  }
  for (const Mesh& mesh : declared.meshes) {
    check_name(mesh.name, "mesh", {});
    const Mesh* known = find(metadata.meshes, mesh.name);
    if (mesh.geometry == nullptr) {  // only named: referenced by a variable declared by a call on a mesh of the file
      if (known != nullptr) continue;
      fail(
          Code::configuration,
          "the program declares a variable on the mesh '{}', which neither the configuration nor the program declares; "
          "add it under meshes: or declare it first",
          mesh.name);
    }
    if (known == nullptr) {
      append(metadata.meshes, mesh);
      metadata.meshes.back().arrays.fill(-1);  // ids in another numbering: see merge_arrays
    } else if (const std::string what = difference_of(*known, mesh); !what.empty()) {
      disagreement(document, "mesh", mesh.name, fmt::format(" ({})", what));
    }
  }
  return all;
}

/// Sets the roles of variables that meshes of the file refer to.
void read_arrays(Metadata& metadata, const std::vector<Settings>& of_meshes) {
  for (std::size_t m = 0; m < of_meshes.size(); ++m) {
    const Settings& settings = of_meshes[m];
    const MeshKind kind = metadata.meshes[m].kind();
    std::string option = "type";
    try {
      for (int n = 1; n < role_count; ++n) {
        const auto role = static_cast<Role>(n);
        option = name_of(role);
        const bool named = role != Role::coordinates || kind >= MeshKind::curvilinear;
        if (named && settings.given(option)) {
          assign_role(metadata, metadata.meshes[m].name, role, settings.text(option));
        }
      }
      option = "type";
      check_arrays(metadata, metadata.meshes[m]);
    } catch (const Error& e) {
      settings.fail(option, e.what());
    }
  }
}

/// Sets the arrays of meshes declared by calls; their ids count the variables declared by calls.
void merge_arrays(Metadata& metadata, const Metadata& declared) {
  for (const Mesh& mesh : declared.meshes) {
    for (int n = 1; n < role_count; ++n) {
      const std::int32_t id = mesh.arrays[static_cast<std::size_t>(n)];
      if (id < 0) continue;
      assign_role(metadata, mesh.name, static_cast<Role>(n), declared.variables.at(static_cast<std::size_t>(id)).name);
    }
  }
}

/// Adds a variable declared by a call. Its mesh id counts the meshes declared by calls.
void merge_variable(Metadata& metadata, Variable variable, const Document& document, const Metadata& declared) {
  check_name(variable.name, "variable", {});
  variable.mesh = metadata.find_mesh(declared.meshes.at(static_cast<std::size_t>(variable.mesh)).name)->id;
  variable.centering = reduced(variable.centering, metadata.mesh_of(variable).dimensions);
  Variable* known = find(metadata.variables, variable.name);
  if (known == nullptr) return append(metadata.variables, std::move(variable));
  if (!agree(*known, variable)) disagreement(document, "variable", variable.name);
  if (known->unit.empty()) known->unit = variable.unit;
  if (known->label.empty()) known->label = variable.label;
  if (known->group.empty()) known->group = variable.group;
  set_attributes(variable.attributes, known->attributes);  // the file's win
  known->attributes = variable.attributes;
  known->filled |= variable.filled;  // either side may declare it
  if (known->relations.empty()) known->relations = variable.relations;
}

}  // namespace

Section variables_section() {
  return {"variables", SectionForm::named,
          "The variables that the simulation publishes, by name. A variable may be declared here, by the program's "
          "calls, or by both if they agree.",
          "variables:\n  temperature: {mesh: grid, type: float64, centering: cell, unit: K}",
          variable_table().declarations()};
}

Metadata read_declarations(const Document& document, const ExpressionContext& expressions, const Metadata& declared) {
  Metadata metadata;
  const ReadContext context = context_of(document, expressions, &metadata);
  const std::vector<Settings> meshes = read_meshes(metadata, document, context, declared);
  for (const Entry& entry : named_entries(document, "variables")) {
    check_name(entry.key, "variable", entry.where);
    const Settings settings = read_settings(entry.value, section("variables").options,
                                            fmt::format("the variable '{}'", entry.key), entry.where, context);
    Variable variable = variable_table().read(settings, metadata);
    variable.name = entry.key;
    append(metadata.variables, std::move(variable));
  }
  for (const Variable& variable : declared.variables) merge_variable(metadata, variable, document, declared);
  read_arrays(metadata, meshes);
  merge_arrays(metadata, declared);
  // Only variables of the file: declarations of another program may lack the variables that they refer to.
  for (const Entry& entry : named_entries(document, "variables")) {
    try {
      check_relations(metadata, *metadata.find_variable(entry.key));
    } catch (const Error& e) {
      fail_at(entry.where, "{}", e.what());
    }
  }
  return metadata;
}

}  // namespace sidestream
