#include "check_options.hpp"

#include <charconv>
#include <cmath>

#include "loading.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {

namespace {

struct NamedValue {
  std::string name, value;
};

NamedValue split(const std::string& text, const char* option, const char* form) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    fail(Code::usage, "found '{}' for {}, expected {}", text, option, form);
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// Parses the whole of `text` as a number; nothing if it is none.
template <class T>
std::optional<T> number(const std::string& text) {
  T value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

/// True for `NAME={size: [64, 64], refinement: [2]}`
bool has_options(const std::string& text) {
  const std::size_t equals = text.find('=');
  return equals != std::string::npos && text.find_first_not_of(' ', equals + 1) == text.find('{', equals);
}

/// Splits `NAME=MESH`
NamedValue split_variable(const std::string& text) {
  return split(text, "--variable",
               "NAME=MESH, such as temperature=grid, or NAME={...} with options as under 'variables:', such as "
               "'temperature={mesh: grid, centering: node}'");
}

Mesh parse_mesh(const std::string& text) {
  constexpr const char* form =
      "NAME=NX, NAME=NXxNY or NAME=NXxNYxNZ, such as grid=64x64x64, or NAME={...} with options as under 'meshes:', such "
      "as 'grid={size: [64, 64], refinement: [2]}'";
  const NamedValue assignment = split(text, "--mesh", form);
  Mesh mesh;
  mesh.name = assignment.name;
  mesh.cells.hi = {1, 1, 1};
  mesh.dimensions = 0;
  std::string rest = assignment.value + "x";
  while (!rest.empty()) {
    const auto size = number<Index>(rest.substr(0, rest.find('x')));
    if (!size || *size < 1 || mesh.dimensions == 3) fail(Code::usage, "found '{}' for --mesh, expected {}", text, form);
    mesh.cells.hi[mesh.dimensions++] = *size;
    rest.erase(0, rest.find('x') + 1);
  }
  mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
  return mesh;
}

}  // namespace

Parameters parse_values(const CheckOptions& options) {
  Parameters parameters;
  std::vector<std::string> values = options.values;
  values.insert(values.end(), options.more_values.begin(), options.more_values.end());
  for (const std::string& text : values) {
    const NamedValue assignment = split(text, "--set", "NAME=VALUE, such as nx=64");
    const auto real = number<double>(assignment.value);
    if (const auto whole = number<std::int64_t>(assignment.value)) {
      parameters[assignment.name] = *whole;
    } else if (real && std::isfinite(*real)) {
      parameters[assignment.name] = *real;
    } else {
      fail(Code::usage, "found '{}' for --set, expected a number after the '='", text);
    }
  }
  return parameters;
}

Metadata parse_declarations(const CheckOptions& options) {
  Metadata declared;
  for (const std::string& text : options.meshes) {
    if (has_options(text)) continue;
    Mesh mesh = parse_mesh(text);
    mesh.id = static_cast<std::int32_t>(declared.meshes.size());
    declared.meshes.push_back(std::move(mesh));
  }
  for (const std::string& text : options.variables) {
    if (has_options(text)) continue;
    const NamedValue assignment = split_variable(text);
    const Mesh* const mesh = declared.find_mesh(assignment.value);
    if (mesh == nullptr) continue;  // declared in the file: see with_declarations
    Variable variable;
    variable.id = static_cast<std::int32_t>(declared.variables.size());
    variable.name = assignment.name;
    variable.mesh = mesh->id;
    declared.variables.push_back(std::move(variable));
  }
  return declared;
}

namespace {

/// The map of a section, added if missing; null if it is not a map, which its reader will report.
Node* section_of(Node& root, const std::string& name) {
  for (Entry& entry : root.entries) {
    if (entry.key != name) continue;
    if (entry.value.kind == Node::Kind::null) entry.value.kind = Node::Kind::map;
    return entry.value.kind == Node::Kind::map ? &entry.value : nullptr;
  }
  Entry& added = root.entries.emplace_back();
  added.key = name;
  added.value.kind = Node::Kind::map;
  return &added.value;
}

void add_entry(Node& root, const std::string& section, Entry entry) {
  const Entry* derived = root.find("derived");
  if (derived != nullptr && derived->value.find(entry.key) != nullptr) return;  // derived by servers in that run
  Node* const to = section_of(root, section);
  if (to != nullptr && to->find(entry.key) == nullptr) to->entries.push_back(std::move(entry));
}

void add_options(Node& root, const std::string& section, const std::vector<std::string>& texts, const char* option) {
  for (const std::string& text : texts) {
    if (!has_options(text)) continue;
    const NamedValue assignment = split(text, option, "NAME={...}");
    Node value = parse_node(assignment.value, fmt::format("{} {}", option, assignment.name));
    const Location where = value.where;
    add_entry(root, section, Entry{assignment.name, where, std::move(value)});
  }
}

/// The mesh entry of a variable; null if the file has no such variable.
const Node* mesh_of(const Node& root, const std::string& variable) {
  const Entry* const section = root.find("variables");
  const Entry* const entry = section == nullptr ? nullptr : section->value.find(variable);
  const Entry* const mesh = entry == nullptr ? nullptr : entry->value.find("mesh");
  return mesh == nullptr ? nullptr : &mesh->value;
}

/// Adds `NAME=MESH` for meshes that are not declared by calls.
void add_variables_of_file(Node& root, const CheckOptions& options) {
  const Metadata declared = parse_declarations(options);
  for (const std::string& text : options.variables) {
    if (has_options(text)) continue;
    const NamedValue assignment = split_variable(text);
    if (declared.find_mesh(assignment.value) != nullptr) continue;
    const Node* const known = mesh_of(root, assignment.name);
    if (known != nullptr && known->kind == Node::Kind::scalar && known->text != assignment.value) {
      fail_at(known->where,
              "found the mesh '{}' of '{}', which is on '{}' by --variable, expected the same; correct one",
              known->text, assignment.name, assignment.value);
    }
    Entry mesh;
    mesh.key = "mesh";
    mesh.where = mesh.value.where = {"--variable " + assignment.name, 1, 1};
    mesh.value.kind = Node::Kind::scalar;
    mesh.value.text = assignment.value;
    Node value;
    value.kind = Node::Kind::map;
    value.where = mesh.where;
    value.entries.push_back(std::move(mesh));
    const Location where = value.where;
    add_entry(root, "variables", Entry{assignment.name, where, std::move(value)});
  }
}

}  // namespace

std::shared_ptr<const Document> with_declarations(std::shared_ptr<const Document> document,
                                                  const CheckOptions& options) {
  Node root = document->root();
  if (!options.declared.empty()) {
    const auto other = parse_document(read_text(options.declared, "what the program declares,"), options.declared);
    for (const char* section : {"meshes", "variables"}) {
      const Entry* found = other->root().find(section);
      if (found == nullptr) {
        fail_at({options.declared, 1, 1},
                "found no '{}', expected a file with 'meshes:' and 'variables:', such as the output 'metadata' writes",
                section);
      }
      for (const Entry& entry : found->value.entries) add_entry(root, section, entry);
    }
  }
  add_options(root, "meshes", options.meshes, "--mesh");
  add_options(root, "variables", options.variables, "--variable");
  add_variables_of_file(root, options);
  return std::make_shared<Document>(document->file(), std::move(root));
}

}  // namespace sidestream
