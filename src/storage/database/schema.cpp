// Parsing the JSON text in which a context describes its meshes, variables and codecs.
//
// 1. read_mesh and read_variable convert the entries. Reader checks the type of each value, and its range.
// 2. check_names and connect: names are unique; arrays of a mesh exist, lie on it and have the role that it gives them.
// Files may be forged, so products of extents and refinement ratios are checked for overflow. Each fault is an
// Error(file) that names the context.
#include "storage/database/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

#include "data/mesh_arrays.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "storage/database/layout.hpp"
#include "storage/files/json.hpp"

namespace sidestream::database {

namespace {

constexpr std::int32_t most_components = 1 << 20;
constexpr std::size_t most_codecs = 16;
constexpr std::size_t most_faces = 4;
constexpr Index most_product = Index{1} << 60;

using Json = nlohmann::json;

/// Reads values from JSON. Any missing value or unexpected type throws the same sentence.
class Reader {
 public:
  explicit Reader(const std::string& where) : where_(where) {}

  [[noreturn]] void wrong(const std::string& what) const {
    fail(Code::file, "{}: {} in what the context says of itself; the file is damaged, or of another version", where_,
         what);
  }
  /// A member that must be there.
  [[nodiscard]] const Json& of(const Json& object, const char* key) const {
    const Json* value = find(object, key);
    if (value == nullptr) wrong(fmt::format("no '{}'", key));
    return *value;
  }
  /// A member, or null if it is missing or `object` is no object.
  [[nodiscard]] static const Json* find(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
  }
  [[nodiscard]] const std::string& text(const Json& value) const {
    if (!value.is_string()) wrong(fmt::format("{} where a text is expected", shown(value)));
    return value.get_ref<const std::string&>();
  }
  [[nodiscard]] bool boolean(const Json& value) const {
    if (!value.is_boolean()) wrong(fmt::format("{} where a truth is expected", shown(value)));
    return value.get<bool>();
  }
  /// A number that fits the type. Null represents a real number that is not finite, which JSON lacks.
  template <class T>
  [[nodiscard]] T number(const Json& value) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (value.is_null()) return std::numeric_limits<T>::quiet_NaN();
      if (value.is_number()) return value.get<T>();
    } else if (value.is_number_unsigned()) {
      if (std::in_range<T>(value.get<std::uint64_t>())) return value.get<T>();
    } else if (value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>())) {
      return value.get<T>();
    }
    wrong(fmt::format("{} where a number is expected", shown(value)));
  }
  /// A list, to go through.
  [[nodiscard]] const Json& items(const Json& value) const {
    if (!value.is_array()) wrong(fmt::format("{} where a list is expected", shown(value)));
    return value;
  }
  template <class T>
  [[nodiscard]] std::vector<T> list(const Json& value) const {
    std::vector<T> values;
    for (const Json& item : items(value)) values.push_back(number<T>(item));
    return values;
  }
  template <class T>
  [[nodiscard]] std::array<T, 3> three(const Json& value) const {
    const std::vector<T> values = list<T>(value);
    if (values.size() != 3) wrong(fmt::format("{} numbers where three are expected", values.size()));
    return {values[0], values[1], values[2]};
  }

 private:
  /// The beginning of a value, for messages.
  [[nodiscard]] static std::string shown(const Json& value) {
    if (value.is_structured()) return value.is_array() ? "a list" : "an object";
    return fmt::format("'{}'", (value.is_string() ? value.get_ref<const std::string&>() : value.dump()).substr(0, 40));
  }
  const std::string& where_;
};

/// Checks that a product of these counts fits into 64 bits, since files may be forged.
void check_extents(const std::array<Index, 3>& counts, const char* what, const Reader& reader) {
  Index product = 1;
  for (const Index n : counts) {
    if (n < 1 || n > most_product / product) reader.wrong(fmt::format("{} that are none, or too many", what));
    product *= n;
  }
}

std::shared_ptr<const Geometry> read_geometry(const Json& node, const Box& cells, const Reader& reader) {
  const std::string& type = reader.text(reader.of(node, "type"));
  if (type == "uniform") {
    return std::make_shared<UniformGeometry>(reader.three<double>(reader.of(node, "origin")),
                                             reader.three<double>(reader.of(node, "spacing")));
  }
  if (type == "octree") {
    check_extents(reader.three<Index>(reader.of(node, "roots")), "root cells", reader);
    return std::make_shared<OctreeGeometry>(reader.three<Index>(reader.of(node, "roots")),
                                            reader.three<double>(reader.of(node, "origin")),
                                            reader.three<double>(reader.of(node, "spacing")));
  }
  if (type == "rectilinear") {
    const Json& nodes = reader.of(node, "nodes");
    if (!nodes.is_array() || nodes.size() != 3) reader.wrong("'nodes' that are not three lists");
    std::array<std::vector<double>, 3> lines;
    for (std::size_t a = 0; a < 3; ++a) {
      lines[a] = reader.list<double>(nodes[a]);
      const auto cells_along = static_cast<std::uint64_t>(cells.hi[a] - cells.lo[a]);
      if (lines[a].size() != cells_along + 1) reader.wrong("'nodes' that are not one more than cells");
    }
    return std::make_shared<RectilinearGeometry>(cells.lo, std::move(lines));
  }
  if (type == "curvilinear") return std::make_shared<ArrayGeometry>(MeshKind::curvilinear);
  if (type == "unstructured") return std::make_shared<ArrayGeometry>(MeshKind::unstructured);
  if (type == "points") return std::make_shared<ArrayGeometry>(MeshKind::points);
  if (type == "none") return nullptr;
  reader.wrong(fmt::format("a mesh of the unknown type '{}'", type.substr(0, 40)));
}

/// Texts for the three axes, if there are any.
std::array<std::string, 3> read_texts(const Json& node, const char* key, const Reader& reader) {
  std::array<std::string, 3> texts;
  const Json* const found = Reader::find(node, key);
  if (found == nullptr) return texts;
  if (!found->is_array() || found->size() != 3) reader.wrong(fmt::format("'{}' that are not three texts", key));
  for (std::size_t a = 0; a < 3; ++a) texts[a] = reader.text((*found)[a]);
  return texts;
}

std::vector<Attribute> read_attributes(const Json& node, const Reader& reader) {
  std::vector<Attribute> all;
  const Json* const found = Reader::find(node, "attributes");
  if (found == nullptr) return all;
  if (!found->is_object()) reader.wrong("'attributes' that are no object");
  for (const auto& [name, value] : found->items()) {
    if (value.is_string()) {
      all.push_back({name, reader.text(value)});
    } else if (value.is_number_float()) {
      all.push_back({name, reader.number<double>(value)});
    } else {
      all.push_back({name, reader.number<std::int64_t>(value)});
    }
  }
  return all;
}

Mesh read_mesh(const Json& node, std::int32_t id, const Reader& reader) {
  Mesh mesh;
  mesh.id = id;
  mesh.name = reader.text(reader.of(node, "name"));
  mesh.dimensions = reader.number<int>(reader.of(node, "dimensions"));
  if (mesh.dimensions < 1 || mesh.dimensions > 3) reader.wrong("a mesh of no or many dimensions");
  const Json& cells = reader.of(node, "cells");
  if (!cells.is_array() || cells.size() != 2) reader.wrong("'cells' that are not two lists");
  mesh.cells = {reader.three<Index>(cells[0]), reader.three<Index>(cells[1])};
  for (std::size_t a = 0; a < 3; ++a) {
    const Index lo = mesh.cells.lo[a], hi = mesh.cells.hi[a];
    if (lo < -most_product || hi > most_product || lo > hi) reader.wrong("'cells' that make no sense");
  }
  mesh.geometry = read_geometry(node, mesh.cells, reader);
  const Json& periodic = reader.of(node, "periodic");
  if (!periodic.is_array() || periodic.size() != 3) reader.wrong("'periodic' that is not a list");
  for (std::size_t a = 0; a < 3; ++a) mesh.periodic[a] = reader.boolean(periodic[a]);
  if (const Json* const points = Reader::find(node, "points")) {
    mesh.owned_points = reader.text(*points) == "owned" && mesh.axes() != nullptr;
    if (!mesh.owned_points) reader.wrong("'points' that are not owned");
  }
  mesh.units = read_texts(node, "units", reader);
  mesh.labels = read_texts(node, "labels", reader);
  mesh.attributes = read_attributes(node, reader);
  std::array<Index, 3> finest{1, 1, 1};
  for (const Json& level : reader.items(reader.of(node, "refinement"))) {
    mesh.refinement.push_back(reader.three<Index>(level));
    check_extents(mesh.refinement.back(), "ratios of levels", reader);
    for (std::size_t a = 0; a < 3; ++a) {
      if (finest[a] > most_product / mesh.refinement.back()[a]) reader.wrong("levels that are too fine");
      finest[a] *= mesh.refinement.back()[a];
    }
  }
  for (std::size_t a = 0; a < 3; ++a) {
    const Index furthest = std::max(std::abs(mesh.cells.lo[a]), std::abs(mesh.cells.hi[a]));
    if (furthest > most_product / finest[a]) reader.wrong("levels that are too fine");
  }
  return mesh;
}

VariableRelations read_relations(const Json& node, const Reader& reader) {
  if (!node.is_object()) reader.wrong("relations that are no object");
  VariableRelations relations;
  const auto text = [&](const char* key) {
    const Json* const found = Reader::find(node, key);
    return found != nullptr ? reader.text(*found) : std::string();
  };
  relations.parent = text("father");  // the key of the format, which the configuration calls `parent`
  relations.equals = text("equals");
  relations.face = text("face");
  relations.opposite = text("opposite");
  if (const Json* const found = Reader::find(node, "divergence_free")) {
    if (found->size() > most_faces) reader.wrong("too many faces without divergence");
    for (const Json& name : reader.items(*found)) relations.divergence_free.push_back(reader.text(name));
  }
  return relations;
}

Variable read_variable(const Json& node, std::int32_t id, const std::vector<Mesh>& meshes, const Reader& reader) {
  Variable v;
  v.id = id;
  v.name = reader.text(reader.of(node, "name"));
  const std::string& mesh = reader.text(reader.of(node, "mesh"));
  const auto on = std::find_if(meshes.begin(), meshes.end(), [&](const Mesh& m) { return m.name == mesh; });
  if (on == meshes.end()) reader.wrong(fmt::format("a variable on no mesh, '{}'", v.name));
  v.mesh = on->id;
  const auto type = type_named(reader.text(reader.of(node, "type")));
  if (!type) reader.wrong(fmt::format("an unknown type of '{}'", v.name));
  v.type = *type;
  const int centering = reader.number<int>(reader.of(node, "centering"));
  v.components = reader.number<std::int32_t>(reader.of(node, "components"));
  const bool sound =
      centering >= 0 && centering < centering_count && v.components >= 1 && v.components <= most_components;
  if (!sound) reader.wrong(fmt::format("a wrong centring or number of components of '{}'", v.name));
  v.centering = static_cast<Centering>(centering);
  const std::string& role = reader.text(reader.of(node, "role"));
  const std::optional<Role> known = role_named(role);
  if (!known && role != name_of(Role::none)) {
    reader.wrong(fmt::format("an unknown role of '{}', '{}'", v.name, role.substr(0, 40)));
  }
  v.role = known.value_or(Role::none);
  const std::string& order = reader.text(reader.of(node, "order"));
  if (order != "row" && order != "column") reader.wrong(fmt::format("an unknown order of '{}'", v.name));
  v.order = order == "row" ? Order::row : Order::column;
  const bool flags = v.role == Role::refined || v.role == Role::owned;
  if (flags && (size_of(v.type) != 1 || v.components != 1)) reader.wrong("flags of a tree that are no bytes");
  v.unit = reader.text(reader.of(node, "unit"));
  v.label = reader.text(reader.of(node, "label"));
  v.group = reader.text(reader.of(node, "group"));
  v.attributes = read_attributes(node, reader);
  return v;
}

void connect(const Json& node, Mesh& mesh, const Metadata& metadata, const Reader& reader) {
  const Json& arrays = reader.of(node, "arrays");
  if (!arrays.is_object()) reader.wrong("'arrays' that are no object");
  for (const auto& [key, name] : arrays.items()) {
    const Variable* variable = metadata.find_variable(reader.text(name));
    if (variable == nullptr) reader.wrong(fmt::format("no variable for '{}'", key.substr(0, 40)));
    const std::optional<Role> role = role_named(key);
    if (!role || variable->role != *role || variable->mesh != mesh.id) {
      reader.wrong(fmt::format("a variable that is not what its mesh says, '{}'", variable->name));
    }
    mesh.arrays[static_cast<std::size_t>(*role)] = variable->id;
  }
}

template <class Named>
void check_names(const std::vector<Named>& all, const Reader& reader) {
  std::set<std::string_view> names;
  for (const Named& one : all) {
    if (!names.insert(one.name).second) reader.wrong(fmt::format("two things of the name '{}'", one.name));
  }
}

/// Reads a list of codecs, first to last.
std::vector<std::string> read_codecs(const Json& list, const Reader& reader) {
  if (list.size() > most_codecs) reader.wrong("too many codecs");
  std::vector<std::string> names;
  for (const Json& name : reader.items(list)) names.push_back(reader.text(name));
  return names;
}

}  // namespace

bool has_trees(const Metadata& metadata) {
  return std::any_of(metadata.meshes.begin(), metadata.meshes.end(), [](const Mesh& mesh) {
    return mesh.kind() == MeshKind::octree && mesh.array(Role::refined) >= 0;
  });
}

Schema read_schema(const std::string& text, const std::string& where) {
  const Reader reader(where);
  JsonDocument document;
  try {
    document = parse_json(text);
  } catch (const Error& error) {
    reader.wrong(error.what());
  }
  const Json& root = *document;
  Schema schema;
  schema.provenance = reader.text(reader.of(root, "provenance"));
  schema.chunk = reader.number<std::uint64_t>(reader.of(root, "chunk"));
  if (schema.chunk == 0 || schema.chunk > most_chunk_bytes || schema.chunk % 8 != 0)
    reader.wrong("a wrong size of chunks");
  const Json* const pruned = Reader::find(root, "pruned");
  schema.pruned = pruned != nullptr && reader.boolean(*pruned);
  Metadata& metadata = schema.metadata;
  const Json& meshes = reader.items(reader.of(root, "meshes"));
  for (const Json& node : meshes) {
    const auto id = static_cast<std::int32_t>(metadata.meshes.size());
    metadata.meshes.push_back(read_mesh(node, id, reader));
    if (const Json* const times = Reader::find(node, "level_times")) {
      schema.level_times[id] = reader.list<double>(*times);
    }
  }
  for (const Json& node : reader.items(reader.of(root, "variables"))) {
    const auto id = static_cast<std::int32_t>(metadata.variables.size());
    metadata.variables.push_back(read_variable(node, id, metadata.meshes, reader));
    schema.codecs.push_back(read_codecs(reader.of(node, "codec"), reader));
    const Json* const relations = Reader::find(node, "relations");
    schema.relations.push_back(relations != nullptr ? read_relations(*relations, reader) : VariableRelations{});
    std::vector<std::vector<std::string>>& others = schema.other_codecs.emplace_back();
    const Json* const more = Reader::find(node, "others");
    if (more == nullptr) continue;
    for (const Json& list : reader.items(*more)) others.push_back(read_codecs(list, reader));
  }
  check_names(metadata.meshes, reader);
  check_names(metadata.variables, reader);
  for (std::size_t n = 0; n < metadata.meshes.size(); ++n) {
    connect(meshes[n], metadata.meshes[n], metadata, reader);
  }
  return schema;
}

Metadata part_of(const Metadata& metadata, const std::vector<std::int32_t>& kept) {
  Metadata part;
  std::map<std::int32_t, std::int32_t> meshes, variables;
  for (const std::int32_t id : kept) {
    const Mesh& mesh = metadata.mesh_of(metadata.variables[static_cast<std::size_t>(id)]);
    if (meshes.try_emplace(mesh.id, static_cast<std::int32_t>(part.meshes.size())).second) part.meshes.push_back(mesh);
  }
  for (const std::int32_t id : kept) {
    Variable variable = metadata.variables[static_cast<std::size_t>(id)];
    variable.mesh = meshes.at(variable.mesh);
    variables[id] = variable.id = static_cast<std::int32_t>(part.variables.size());
    part.variables.push_back(std::move(variable));
  }
  for (std::size_t n = 0; n < part.meshes.size(); ++n) {
    part.meshes[n].id = static_cast<std::int32_t>(n);
    for (std::int32_t& array : part.meshes[n].arrays) {
      const auto found = variables.find(array);
      array = found == variables.end() ? -1 : found->second;
    }
  }
  return part;
}

}  // namespace sidestream::database
