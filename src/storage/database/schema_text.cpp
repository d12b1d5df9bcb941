// Writes the description of a context.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "storage/database/schema.hpp"
#include "storage/files/json.hpp"

namespace sidestream::database {

namespace {

void add_geometry(JsonObject& about, const Mesh& mesh) {
  if (const auto* uniform = dynamic_cast<const UniformGeometry*>(mesh.geometry.get())) {
    about.add("origin", uniform->origin());
    about.add("spacing", uniform->spacing());
  } else if (const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh.geometry.get())) {
    about.add("roots", tree->roots());
    about.add("origin", tree->origin());
    about.add("spacing", tree->spacing());
  } else if (const auto* lines = dynamic_cast<const RectilinearGeometry*>(mesh.geometry.get())) {
    about.add("nodes", std::array{lines->nodes(0), lines->nodes(1), lines->nodes(2)});
  }
}

JsonObject about_attributes(const std::vector<Attribute>& attributes) {
  JsonObject about;
  for (const Attribute& one : attributes) {
    std::visit([&](const auto& value) { about.add(one.name, value); }, one.value);
  }
  return about;
}

JsonObject about_mesh(const Mesh& mesh, const Schema& schema) {
  JsonObject about;
  about.add("name", mesh.name);
  about.add("type", mesh.geometry ? mesh.geometry->kind() : "none");
  about.add("dimensions", mesh.dimensions);
  about.add("cells", std::array{mesh.cells.lo, mesh.cells.hi});
  add_geometry(about, mesh);
  about.add("periodic", mesh.periodic);
  const auto times = schema.level_times.find(mesh.id);
  if (times != schema.level_times.end()) about.add("level_times", times->second);
  about.add("refinement", mesh.refinement);
  if (mesh.owned_points) about.add("points", "owned");
  if (mesh.units != std::array<std::string, 3>{}) about.add("units", mesh.units);
  if (mesh.labels != std::array<std::string, 3>{}) about.add("labels", mesh.labels);
  if (!mesh.attributes.empty()) about.add("attributes", about_attributes(mesh.attributes));
  JsonObject arrays;
  for (int n = 1; n < role_count; ++n) {
    const auto role = static_cast<Role>(n);
    if (mesh.array(role) < 0) continue;
    arrays.add(name_of(role), schema.metadata.variables[static_cast<std::size_t>(mesh.array(role))].name);
  }
  about.add("arrays", arrays);
  return about;
}

JsonObject about_relations(const VariableRelations& relations) {
  JsonObject about;
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) about.add(name, text);
  };
  add("father", relations.parent);  // the key of the format, which the configuration calls `parent`
  add("equals", relations.equals);
  add("face", relations.face);
  add("opposite", relations.opposite);
  if (!relations.divergence_free.empty()) about.add("divergence_free", relations.divergence_free);
  return about;
}

JsonObject about_variable(const Variable& v, const Schema& schema) {
  const auto number = static_cast<std::size_t>(v.id);
  JsonObject about;
  about.add("name", v.name);
  about.add("mesh", schema.metadata.mesh_of(v).name);
  about.add("type", name_of(v.type));
  about.add("centering", static_cast<int>(v.centering));
  about.add("role", name_of(v.role));
  about.add("components", v.components);
  about.add("order", v.order == Order::column ? "column" : "row");
  about.add("unit", v.unit);
  about.add("label", v.label);
  about.add("group", v.group);
  if (!v.attributes.empty()) about.add("attributes", about_attributes(v.attributes));
  std::vector<std::vector<std::string>> lists = schema.lists_of(number);
  about.add("codec", lists.front());
  lists.erase(lists.begin());
  if (!lists.empty()) about.add("others", lists);
  const VariableRelations relations = schema.relations_of(number);
  if (!relations.empty()) about.add("relations", about_relations(relations));
  return about;
}

}  // namespace

std::string schema_text(const Schema& schema) {
  std::vector<std::string> meshes, variables;
  for (const Mesh& mesh : schema.metadata.meshes) meshes.push_back(about_mesh(mesh, schema).text());
  for (const Variable& v : schema.metadata.variables) variables.push_back(about_variable(v, schema).text());
  return fmt::format("{{\"provenance\": {}, \"chunk\": {}{},\n\"meshes\": [\n{}],\n\"variables\": [\n{}]}}",
                     quoted_text(schema.provenance), schema.chunk, schema.pruned ? ", \"pruned\": true" : "",
                     fmt::join(meshes, ",\n"), fmt::join(variables, ",\n"));
}

}  // namespace sidestream::database
