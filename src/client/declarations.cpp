#include "client/declarations.hpp"

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"

namespace sidestream {

namespace {

/// Stands for a mesh that the file declares.
Mesh named_mesh(const std::string& name) {
  Mesh mesh;
  mesh.name = name;
  return mesh;
}

}  // namespace

void Declarations::set(const std::string& name, std::variant<std::int64_t, double> value) {
  parameters.insert_or_assign(name, value);
}

void Declarations::add_mesh(Mesh mesh) {
  const Mesh* known = metadata.find_mesh(mesh.name);
  if (known && known->geometry)
    fail(Code::usage, "the mesh '{}' is declared twice; give each mesh its own name", mesh.name);
  if (known) {
    mesh.id = known->id;
    metadata.meshes[static_cast<std::size_t>(mesh.id)] = std::move(mesh);
    return;
  }
  mesh.id = static_cast<std::int32_t>(metadata.meshes.size());
  metadata.meshes.push_back(std::move(mesh));
}

void Declarations::add_variable(const std::string& mesh, Variable variable) {
  if (metadata.find_variable(variable.name)) {
    fail(Code::usage, "the variable '{}' is declared twice; give each variable its own name", variable.name);
  }
  if (!metadata.find_mesh(mesh)) add_mesh(named_mesh(mesh));
  variable.mesh = metadata.find_mesh(mesh)->id;
  variable.id = static_cast<std::int32_t>(metadata.variables.size());
  metadata.variables.push_back(std::move(variable));
}

void Declarations::apply_attributes(Metadata& final) const {
  for (const AttributeDeclaration& a : attributes) {
    const Variable* found = final.find_variable(a.variable);
    if (!found) {
      fail(Code::usage,
           "an attribute is set of the variable '{}', which is not declared; declare it or correct the name",
           a.variable);
    }
    Variable& variable = final.variables[static_cast<std::size_t>(found->id)];
    if (a.attribute == "unit") {
      variable.unit = a.value;
    } else if (a.attribute == "label") {
      variable.label = a.value;
    } else if (a.attribute == "group") {
      variable.group = a.value;
    } else if (a.attribute == "time_varying" && (a.value == "true" || a.value == "false")) {
      variable.time_varying = a.value == "true";
    } else {
      fail(Code::usage,
           "the attribute '{}' of the variable '{}' is set to '{}'; expected unit, label or group with a text, or "
           "time_varying with true or false",
           a.attribute, a.variable, a.value);
    }
  }
}

namespace {

/// Writes values one after the other; reads them back in the same order.
class Encoder {
 public:
  template <class T>
  void value(const T& v) {
    const auto* at = reinterpret_cast<const std::byte*>(&v);
    bytes.insert(bytes.end(), at, at + sizeof v);
  }
  void text(const std::string& s) {
    value(static_cast<std::uint64_t>(s.size()));
    const auto* at = reinterpret_cast<const std::byte*>(s.data());
    bytes.insert(bytes.end(), at, at + s.size());
  }
  Bytes bytes;
};

class Decoder {
 public:
  explicit Decoder(BytesView view) : view_(view) {}
  template <class T>
  T value() {
    T v;
    std::memcpy(&v, take(sizeof v), sizeof v);
    return v;
  }
  std::string text() {
    const auto size = value<std::uint64_t>();
    return std::string(reinterpret_cast<const char*>(take(size)), size);
  }
  [[nodiscard]] std::size_t count() { return value<std::uint64_t>(); }

 private:
  const std::byte* take(std::size_t size) {
    if (size > view_.size() - at_) fail(Code::internal, "declarations end too early");
    at_ += size;
    return view_.data() + at_ - size;
  }
  BytesView view_;
  std::size_t at_ = 0;
};

void encode_mesh(Encoder& out, const Mesh& mesh) {
  out.text(mesh.name);
  out.value(mesh.cells);
  out.value(mesh.dimensions);
  out.value(mesh.periodic);
  out.value(static_cast<std::uint64_t>(mesh.refinement.size()));
  for (const Index3& ratio : mesh.refinement) out.value(ratio);
  out.value(mesh.fixed);
  const std::string kind = mesh.geometry ? mesh.geometry->kind() : "";
  out.text(kind);
  if (!mesh.geometry) return;
  const Axes& axes = *mesh.geometry->axes();
  if (const auto* uniform = dynamic_cast<const UniformGeometry*>(mesh.geometry.get())) {
    out.value(uniform->origin());
    out.value(uniform->spacing());
    return;
  }
  for (int axis = 0; axis < 3; ++axis) {
    for (Index i = mesh.cells.lo[axis]; i <= mesh.cells.hi[axis]; ++i) out.value(axes.node(axis, i));
  }
}

Mesh decode_mesh(Decoder& in) {
  Mesh mesh;
  mesh.name = in.text();
  mesh.cells = in.value<Box>();
  mesh.dimensions = in.value<int>();
  mesh.periodic = in.value<std::array<bool, 3>>();
  for (std::size_t n = in.count(); n > 0; --n) mesh.refinement.push_back(in.value<Index3>());
  mesh.fixed = in.value<bool>();
  const std::string kind = in.text();
  if (kind.empty()) return mesh;
  if (kind == "uniform") {
    const auto origin = in.value<std::array<double, 3>>();
    mesh.geometry = std::make_shared<UniformGeometry>(origin, in.value<std::array<double, 3>>());
    return mesh;
  }
  std::array<std::vector<double>, 3> nodes;
  for (int axis = 0; axis < 3; ++axis) {
    for (Index i = 0; i <= mesh.cells.extent(axis); ++i) nodes[axis].push_back(in.value<double>());
  }
  mesh.geometry = std::make_shared<RectilinearGeometry>(mesh.cells.lo, std::move(nodes));
  return mesh;
}

void encode_variable(Encoder& out, const Variable& v) {
  out.text(v.name);
  out.value(v.mesh);
  out.value(v.type);
  out.value(v.centering);
  out.value(v.components);
  out.value(v.order);
  out.value(v.time_varying);
  out.text(v.unit);
  out.text(v.label);
  out.text(v.group);
}

Variable decode_variable(Decoder& in) {
  Variable v;
  v.name = in.text();
  v.mesh = in.value<std::int32_t>();
  v.type = in.value<Type>();
  v.centering = in.value<Centering>();
  v.components = in.value<std::int32_t>();
  v.order = in.value<Order>();
  v.time_varying = in.value<bool>();
  v.unit = in.text();
  v.label = in.text();
  v.group = in.text();
  return v;
}

}  // namespace

Bytes Declarations::encode() const {
  Encoder out;
  out.value(static_cast<std::uint64_t>(parameters.size()));
  for (const auto& [name, value] : parameters) {
    out.text(name);
    out.value(static_cast<std::int32_t>(value.index()));
    std::visit([&](auto v) { out.value(v); }, value);
  }
  out.value(static_cast<std::uint64_t>(metadata.meshes.size()));
  for (const Mesh& mesh : metadata.meshes) encode_mesh(out, mesh);
  out.value(static_cast<std::uint64_t>(metadata.variables.size()));
  for (const Variable& variable : metadata.variables) encode_variable(out, variable);
  out.value(static_cast<std::uint64_t>(attributes.size()));
  for (const AttributeDeclaration& a : attributes) {
    out.text(a.variable);
    out.text(a.attribute);
    out.text(a.value);
  }
  return std::move(out.bytes);
}

Declarations Declarations::decode(BytesView bytes) {
  Decoder in(bytes);
  Declarations all;
  for (std::size_t n = in.count(); n > 0; --n) {
    const std::string name = in.text();
    if (in.value<std::int32_t>() == 0) {
      all.parameters[name] = in.value<std::int64_t>();
    } else {
      all.parameters[name] = in.value<double>();
    }
  }
  for (std::size_t n = in.count(); n > 0; --n) {
    Mesh mesh = decode_mesh(in);
    mesh.id = static_cast<std::int32_t>(all.metadata.meshes.size());
    all.metadata.meshes.push_back(std::move(mesh));
  }
  for (std::size_t n = in.count(); n > 0; --n) {
    Variable variable = decode_variable(in);
    variable.id = static_cast<std::int32_t>(all.metadata.variables.size());
    all.metadata.variables.push_back(std::move(variable));
  }
  for (std::size_t n = in.count(); n > 0; --n) {
    AttributeDeclaration a;
    a.variable = in.text();
    a.attribute = in.text();
    a.value = in.text();
    all.attributes.push_back(std::move(a));
  }
  return all;
}

}  // namespace sidestream
