#include "check_options.hpp"

#include <charconv>
#include <cmath>

#include "base/fail.hpp"
#include "config/names.hpp"

namespace sidestream {

namespace {

struct Assignment {
  std::string name, value;
};

Assignment split(const std::string& text, const char* option, const char* form) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    fail(Code::usage, "found '{}' for {}, expected {}", text, option, form);
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// The whole of `text` as a number, or nothing.
template <class T>
std::optional<T> number(const std::string& text) {
  T value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

Mesh parse_mesh(const std::string& text) {
  constexpr const char* form = "NAME=NX, NAME=NXxNY or NAME=NXxNYxNZ, such as grid=64x64x64";
  const Assignment assignment = split(text, "--mesh", form);
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
    const Assignment assignment = split(text, "--set", "NAME=VALUE, such as nx=64");
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
    Mesh mesh = parse_mesh(text);
    mesh.id = static_cast<std::int32_t>(declared.meshes.size());
    declared.meshes.push_back(std::move(mesh));
  }
  for (const std::string& text : options.variables) {
    const Assignment assignment = split(text, "--variable", "NAME=MESH, such as temperature=grid");
    const Mesh* mesh = declared.find_mesh(assignment.value);
    if (mesh == nullptr) {
      fail(Code::usage, "found the mesh '{}' for --variable {}, expected one given by --mesh; add --mesh {}=NXxNYxNZ",
           assignment.value, assignment.name, assignment.value);
    }
    Variable variable;
    variable.id = static_cast<std::int32_t>(declared.variables.size());
    variable.name = assignment.name;
    variable.mesh = mesh->id;
    declared.variables.push_back(std::move(variable));
  }
  return declared;
}

}  // namespace sidestream
