// Writes the description of a context.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "storage/database/schema.hpp"
#include "storage/files/json.hpp"

namespace sidestream::database {

namespace {

/// Members keep the order in which they are added.
using OrderedJson = nlohmann::ordered_json;

void add_geometry(OrderedJson& about, const Mesh& mesh) {
  if (const auto* uniform = dynamic_cast<const UniformGeometry*>(mesh.geometry.get())) {
    about["origin"] = uniform->origin();
    about["spacing"] = uniform->spacing();
  } else if (const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh.geometry.get())) {
    about["roots"] = tree->roots();
    about["origin"] = tree->origin();
    about["spacing"] = tree->spacing();
  } else if (const auto* lines = dynamic_cast<const RectilinearGeometry*>(mesh.geometry.get())) {
    about["nodes"] = {lines->nodes(0), lines->nodes(1), lines->nodes(2)};
  }
}

OrderedJson about_mesh(const Mesh& mesh, const Schema& schema) {
  OrderedJson about;
  about["name"] = mesh.name;
  about["type"] = mesh.geometry ? mesh.geometry->kind() : "none";
  about["dimensions"] = mesh.dimensions;
  about["cells"] = {mesh.cells.lo, mesh.cells.hi};
  add_geometry(about, mesh);
  about["periodic"] = mesh.periodic;
  const auto times = schema.level_times.find(mesh.id);
  if (times != schema.level_times.end()) about["level_times"] = times->second;
  about["refinement"] = mesh.refinement;
  OrderedJson& arrays = about["arrays"] = OrderedJson::object();
  for (int n = 1; n < role_count; ++n) {
    const auto role = static_cast<Role>(n);
    if (mesh.array(role) < 0) continue;
    arrays[std::string(name_of(role))] = schema.metadata.variables[static_cast<std::size_t>(mesh.array(role))].name;
  }
  return about;
}

OrderedJson about_relations(const VariableRelations& relations) {
  OrderedJson about;
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) about[name] = text;
  };
  add("father", relations.parent);  // the key of the format, which the configuration calls `parent`
  add("equals", relations.equals);
  add("face", relations.face);
  add("opposite", relations.opposite);
  if (!relations.divergence_free.empty()) about["divergence_free"] = relations.divergence_free;
  return about;
}

OrderedJson about_variable(const Variable& v, const Schema& schema) {
  const auto number = static_cast<std::size_t>(v.id);
  OrderedJson about;
  about["name"] = v.name;
  about["mesh"] = schema.metadata.mesh_of(v).name;
  about["type"] = name_of(v.type);
  about["centering"] = static_cast<int>(v.centering);
  about["role"] = name_of(v.role);
  about["components"] = v.components;
  about["order"] = v.order == Order::column ? "column" : "row";
  about["unit"] = v.unit;
  about["label"] = v.label;
  about["group"] = v.group;
  std::vector<std::vector<std::string>> lists = schema.lists_of(number);
  about["codec"] = lists.front();
  lists.erase(lists.begin());
  if (!lists.empty()) about["others"] = lists;
  const VariableRelations relations = schema.relations_of(number);
  if (!relations.empty()) about["relations"] = about_relations(relations);
  return about;
}

}  // namespace

std::string schema_text(const Schema& schema) {
  std::vector<std::string> meshes, variables;
  for (const Mesh& mesh : schema.metadata.meshes) meshes.push_back(json_line(about_mesh(mesh, schema)));
  for (const Variable& v : schema.metadata.variables) variables.push_back(json_line(about_variable(v, schema)));
  return fmt::format("{{\"provenance\": {}, \"chunk\": {}{},\n\"meshes\": [\n{}],\n\"variables\": [\n{}]}}",
                     json_line(schema.provenance), schema.chunk, schema.pruned ? ", \"pruned\": true" : "",
                     fmt::join(meshes, ",\n"), fmt::join(variables, ",\n"));
}

}  // namespace sidestream::database
