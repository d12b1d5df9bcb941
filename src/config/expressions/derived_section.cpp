// The section `derived`, expressions instead of variables, and the kinds of functions.
//
// 1. read_derived: each entry becomes a variable with the mesh, centring and order of its first input; later entries
//    may use it.
// 2. place_steps, on unstructured meshes: where the values of each step lie; steps at different places are refused.
// 3. result_components: components of a function's result, or the reason why it does not apply to the mesh.
#include "config/expressions/derived_section.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <optional>

#include "config/expressions/derivation_text.hpp"
#include "config/opening.hpp"
#include "config/options/read_settings.hpp"

namespace sidestream {

namespace {

/// An entry of the section.
struct DerivedEntry : Variable {
  std::string cells_of{};  ///< the name of a mesh
};

const OptionTable<DerivedEntry>& derived_options() {
  static const OptionTable<DerivedEntry> table{
      options_read_elsewhere<DerivedEntry>(
          {{.name = "expression",
            .type = OptionType::text,
            .required = true,
            .text = "What it is, in each point: numbers, names of variables of one mesh and one centering and "
                    "functions of them. [Derived variables](derived.md) has the functions."}}),
      option<OptionType::mesh>(
          "mesh", &DerivedEntry::cells_of,
          "The uniform mesh in whose cells particles are put (`cic(mass)`), where the expression names no variable of "
          "that mesh. One has to be published in its cells."),
      option("type", &Variable::type,
             "Type of the result. It is computed with float64, whatever the inputs are, and rounded at the end.",
             {.standard = "float64", .choices = {{"float64", Type::float64}, {"float32", Type::float32}}}),
      option("unit", &Variable::unit, "Unit for labels and files."),
      option("label", &Variable::label, "Name in captions; if left out the variable's name."),
      option("group", &Variable::group, "Folder of the variable in files that have folders.")};
  return table;
}

void add(Variable variable, const std::string& text, const ExpressionContext& expressions, const std::string& what,
         const Location& where, Metadata& metadata, const Variable* on = nullptr) {
  variable.derivation = parse_derivation(text, expressions, metadata, what, where, on);
  // Roles of meshes that are declared by calls are not given yet.
  const Variable& like = metadata.variables[static_cast<std::size_t>(variable.derivation->inputs().front())];
  variable.id = static_cast<std::int32_t>(metadata.variables.size());
  variable.mesh = like.mesh;
  variable.centering = variable.derivation->in_cells() ? Centering::cell : like.centering;
  variable.order = like.order;
  variable.components = variable.derivation->result().components;
  metadata.variables.push_back(std::move(variable));
}

/// A variable in the cells of the mesh; null without a name.
const Variable* on_mesh(const std::string& name, const Settings& settings, const Metadata& metadata) {
  if (name.empty()) return nullptr;
  const Mesh& mesh = *metadata.find_mesh(name);
  for (const Variable& one : metadata.variables) {
    if (one.mesh == mesh.id && one.centering == Centering::cell && one.role == Role::none && !one.derived())
      return &one;
  }
  settings.fail("mesh",
                fmt::format("found no variable in the cells of '{}', expected a published one, into whose cells "
                            "particles are put; declare one",
                            mesh.name));
}

void read_one(const Entry& entry, const ReadContext& context, Metadata& metadata) {
  check_name(entry.key, "variable", entry.where);
  if (const Variable* known = metadata.find_variable(entry.key)) {
    fail_at(entry.where, "found the derived variable '{}', which {}; rename one of them", entry.key,
            known->derived() ? "is derived above already" : "is the name of a published variable too");
  }
  Node map = entry.value;
  if (map.kind == Node::Kind::scalar) {
    map = {};
    map.kind = Node::Kind::map;
    map.where = entry.value.where;
    map.entries.push_back({"expression", entry.value.where, entry.value});
  }
  const std::string owner = fmt::format("the derived variable '{}'", entry.key);
  const Settings settings = read_settings(map, section("derived").options, owner, entry.where, context);
  DerivedEntry variable = derived_options().read(settings);
  variable.name = entry.key;
  const Node& text = map.find("expression")->value;
  add(variable, text.text, context.expressions, owner, inside(text), metadata,
      on_mesh(variable.cells_of, settings, metadata));
}

}  // namespace

Section derived_section() {
  return {"derived", SectionForm::named,
          "Variables that servers compute from published ones, by name, whenever an analysis or an output that is due "
          "names them. `name: EXPRESSION` is short for `name: {expression: EXPRESSION}`. An analysis may also have an "
          "expression instead of a variable's name.",
          "derived:\n  speed: magnitude(velocity)\n  kinetic: {expression: 0.5 * density * speed^2, unit: J/m3}\n"
          "  vorticity: curl(velocity)",
          derived_options().declarations()};
}

void read_derived(const Document& document, const ExpressionContext& expressions, Metadata& metadata) {
  const Entry* found = document.root().find("derived");
  if (found == nullptr || found->value.kind == Node::Kind::null) return;
  if (found->value.kind != Node::Kind::map) {
    fail_at(found->value.where,
            "found {} for 'derived', expected a map from names to expressions; write 'derived: {{speed: "
            "magnitude(velocity)}}'",
            found->value.description());
  }
  const ReadContext context = context_of(document, expressions, &metadata);
  for (const Entry& entry : found->value.entries) read_one(entry, context, metadata);
}

bool is_expression(const std::string& text) { return text.find_first_of("+-*/^()[]<>=!&|?.$'\"") != std::string::npos; }

void derive_in_place(const Node& node, const ExpressionContext& expressions, Metadata& metadata) {
  Variable variable;
  variable.name = node.text;
  add(std::move(variable), node.text, expressions, "a variable", inside(node), metadata);
}

using Kind = DerivationStep::Kind;

std::string place_steps(std::vector<DerivationStep>& steps, const Metadata& metadata, const Mesh& mesh) {
  if (mesh.kind() != MeshKind::unstructured) return {};
  std::vector<std::optional<Centering>> places;  // nothing: the same everywhere
  for (DerivationStep& step : steps) {
    std::optional<Centering>& mine = places.emplace_back();
    if (step.kind == Kind::variable || step.kind == Kind::derived)
      mine = metadata.variables.at(static_cast<std::size_t>(step.variable)).centering;
    if (step.kind == Kind::coordinate) mine = nodes_of(mesh.dimensions);
    for (const std::size_t argument : step.arguments) {
      const std::optional<Centering> other = places[argument];
      if (mine && other && *mine != *other) {
        return fmt::format(
            "which joins values at points and in cells of the mesh '{}'; nothing is interpolated, and derivatives on "
            "unstructured meshes lie in cells: join values at the same places",
            mesh.name);
      }
      if (other) mine = other;
    }
    step.in_cells = step.is_stencil();
    if (!step.in_cells) continue;
    if (mine == Centering::cell) {
      return fmt::format(
          "which takes {} of values in cells of the mesh '{}', which is unstructured; there they are taken of values at "
          "points, and lie in cells: publish values at points",
          step.kind == Kind::cell_mean ? "means" : "derivatives", mesh.name);
    }
    mine = Centering::cell;
  }
  return {};
}

namespace {

using Kind = DerivationStep::Kind;

std::int32_t of_vectors(Kind kind, const std::vector<std::int32_t>& given, std::string& wrong) {
  if (kind == Kind::magnitude) return 1;
  if (kind == Kind::vector) {
    const auto found = std::find_if(given.begin(), given.end(), [](std::int32_t count) { return count != 1; });
    if (found == given.end()) return static_cast<std::int32_t>(given.size());
    wrong =
        fmt::format("joins something of {} components, expected numbers; take components, as in 'velocity.x'", *found);
    return 0;
  }
  if (given[0] != given[1]) {
    wrong = fmt::format("has vectors of {} and {} components, expected as many; correct one", given[0], given[1]);
    return 0;
  }
  if (kind == Kind::dot) return 1;
  if (given[0] == 3) return 3;
  wrong = fmt::format("has vectors of {} components, expected 3; name others", given[0]);
  return 0;
}

std::int32_t of_neighbours(Kind kind, std::int32_t given, const Mesh& mesh, std::string& wrong) {
  const std::int32_t dimensions = mesh.dimensions;
  if (kind == Kind::gradient) return given * dimensions;
  if (given == dimensions && kind == Kind::curl && dimensions == 2) return 1;
  const bool flow = given == 3 || (given == dimensions && kind != Kind::curl);
  if (flow) return kind == Kind::curl ? 3 : 1;
  wrong = fmt::format("has a variable of {} component{} on the mesh '{}' of {} dimensions, expected {}; name another",
                      given, given == 1 ? "" : "s", mesh.name, dimensions,
                      dimensions == 2   ? "2 or 3"
                      : dimensions == 3 ? "3"
                                        : "3 or 1");
  if (dimensions == 1 && kind == Kind::curl) {
    wrong = fmt::format("has a variable of {} component{} on the mesh '{}' of 1 dimension, expected 3; name another",
                        given, given == 1 ? "" : "s", mesh.name);
  }
  return 0;
}

}  // namespace

const std::vector<DerivedFunction>& derived_functions() {
  static const std::vector<DerivedFunction> all{
      {"vector", 0, Kind::vector},       {"magnitude", 1, Kind::magnitude}, {"dot", 2, Kind::dot},
      {"cross", 2, Kind::cross},         {"gradient", 1, Kind::gradient},   {"divergence", 1, Kind::divergence},
      {"curl", 1, Kind::curl},           {"vorticity", 1, Kind::curl},      {"q_criterion", 1, Kind::spin_or_strain},
      {"cell_mean", 1, Kind::cell_mean},
  };
  return all;
}

std::int32_t result_components(const DerivedFunction& function, const std::vector<std::int32_t>& given,
                               const Mesh& mesh, std::string& wrong) {
  if (function.kind < Kind::gradient) return of_vectors(function.kind, given, wrong);
  if ((mesh.is_list() && mesh.kind() != MeshKind::unstructured) || mesh.kind() < MeshKind::uniform) {
    wrong = fmt::format(
        "takes neighbours, which points of the mesh '{}', which is {}, do not have; expected a uniform, rectilinear, "
        "curvilinear or unstructured mesh: use a variable on one",
        mesh.name, mesh.geometry ? mesh.geometry->kind() : "not declared");
    return 0;
  }
  if (function.kind != Kind::cell_mean) return of_neighbours(function.kind, given[0], mesh, wrong);
  if (mesh.kind() == MeshKind::unstructured) return given[0];
  wrong = fmt::format("averages over the points of cells of the mesh '{}', which is {}; expected an unstructured mesh",
                      mesh.name, mesh.geometry->kind());
  return 0;
}

}  // namespace sidestream
