// What a context says of itself, as it is written.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "storage/database/schema.hpp"

namespace sidestream::database {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

template <class Values>
std::string numbers(const Values& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string geometry_text(const Mesh& mesh) {
  if (const auto* uniform = dynamic_cast<const UniformGeometry*>(mesh.geometry.get())) {
    return fmt::format(", \"origin\": {}, \"spacing\": {}", numbers(uniform->origin()), numbers(uniform->spacing()));
  }
  if (const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh.geometry.get())) {
    return fmt::format(", \"roots\": {}, \"origin\": {}, \"spacing\": {}", numbers(tree->roots()),
                       numbers(tree->origin()), numbers(tree->spacing()));
  }
  if (const auto* lines = dynamic_cast<const RectilinearGeometry*>(mesh.geometry.get())) {
    return fmt::format(", \"nodes\": [{}, {}, {}]", numbers(lines->nodes(0)), numbers(lines->nodes(1)),
                       numbers(lines->nodes(2)));
  }
  return {};
}

std::string mesh_text(const Mesh& mesh, const Metadata& metadata, const Schema& schema) {
  std::string text = fmt::format("{{\"name\": {}, \"type\": {}, \"dimensions\": {}, \"cells\": [{}, {}]",
                                 quoted(mesh.name), quoted(mesh.geometry ? mesh.geometry->kind() : "none"),
                                 mesh.dimensions, numbers(mesh.cells.lo), numbers(mesh.cells.hi));
  text += geometry_text(mesh);
  text += fmt::format(", \"periodic\": [{}]", fmt::join(mesh.periodic, ", "));
  std::vector<std::string> levels, arrays;
  for (const Index3& ratio : mesh.refinement) levels.push_back(numbers(ratio));
  for (int n = 1; n < role_count; ++n) {
    const std::int32_t id = mesh.array(static_cast<Role>(n));
    if (id < 0) continue;
    arrays.push_back(fmt::format("\"{}\": {}", name_of(static_cast<Role>(n)),
                                 quoted(metadata.variables[static_cast<std::size_t>(id)].name)));
  }
  const auto times = schema.level_times.find(mesh.id);
  if (times != schema.level_times.end()) text += fmt::format(", \"level_times\": {}", numbers(times->second));
  return text +
         fmt::format(", \"refinement\": [{}], \"arrays\": {{{}}}}}", fmt::join(levels, ", "), fmt::join(arrays, ", "));
}

std::string list_text(const std::vector<std::string>& codecs) {
  std::vector<std::string> names;
  for (const std::string& name : codecs) names.push_back(quoted(name));
  return fmt::format("[{}]", fmt::join(names, ", "));
}

/// Empty without any.
std::string relations_text(const VariableRelations& relations) {
  if (relations.empty()) return {};
  std::vector<std::string> entries;
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) entries.push_back(fmt::format("\"{}\": {}", name, quoted(text)));
  };
  add("father", relations.parent);  // the key of the format, which the configuration calls `parent`
  add("equals", relations.equals);
  add("face", relations.face);
  add("opposite", relations.opposite);
  if (!relations.divergence_free.empty()) {
    entries.push_back("\"divergence_free\": " + list_text(relations.divergence_free));
  }
  return fmt::format(", \"relations\": {{{}}}", fmt::join(entries, ", "));
}

std::string variable_text(const Variable& v, const Metadata& metadata,
                          const std::vector<std::vector<std::string>>& lists, const VariableRelations& relations) {
  std::string others;
  for (std::size_t n = 1; n < lists.size(); ++n) others += (n > 1 ? ", " : "") + list_text(lists[n]);
  if (!others.empty()) others = ", \"others\": [" + others + "]";
  return fmt::format(
      "{{\"name\": {}, \"mesh\": {}, \"type\": \"{}\", \"centering\": {}, \"role\": \"{}\", \"components\": {}, \"order\": "
      "\"{}\", \"unit\": {}, \"label\": {}, \"group\": {}, \"codec\": {}{}{}}}",
      quoted(v.name), quoted(metadata.mesh_of(v).name), name_of(v.type), static_cast<int>(v.centering), name_of(v.role),
      v.components, v.order == Order::column ? "column" : "row", quoted(v.unit), quoted(v.label), quoted(v.group),
      list_text(lists.front()), others, relations_text(relations));
}

}  // namespace

std::string schema_text(const Schema& schema) {
  std::vector<std::string> meshes, variables;
  for (const Mesh& mesh : schema.metadata.meshes) meshes.push_back(mesh_text(mesh, schema.metadata, schema));
  for (const Variable& v : schema.metadata.variables) {
    variables.push_back(variable_text(v, schema.metadata, schema.lists_of(static_cast<std::size_t>(v.id)),
                                      schema.relations_of(static_cast<std::size_t>(v.id))));
  }
  return fmt::format("{{\"provenance\": {}, \"chunk\": {}{},\n\"meshes\": [\n{}],\n\"variables\": [\n{}]}}",
                     quoted(schema.provenance), schema.chunk, schema.pruned ? ", \"pruned\": true" : "",
                     fmt::join(meshes, ",\n"), fmt::join(variables, ",\n"));
}

}  // namespace sidestream::database
