// Declarations: checks of calls, and the encoding that servers in other processes receive.
//
// The encoding is a sequence of fields in fixed order, without tags: parameters, meshes with their geometry, variables,
// attributes of variables, roles of arrays. Decoding trusts nothing, since the bytes may come from a file of any
// origin: lengths, enumerations, boxes and references are checked before use.
#include "client/declarations.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <tuple>
#include <type_traits>

#include "config/attributes.hpp"
#include "config/expressions/relations.hpp"
#include "config/options/former_names.hpp"
#include "data/mesh_arrays.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/fields.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream {

template <>
inline constexpr std::size_t field_count<VariableRelations> = 5;
template <>
inline constexpr std::size_t field_count<Attribute> = 2;
template <>
inline constexpr std::size_t field_count<std::array<std::string, 3>> = 3;
template <>
inline constexpr std::size_t field_count<Declarations::AttributeDeclaration> = 3;
template <>
inline constexpr std::size_t field_count<Declarations::ArrayDeclaration> = 3;

namespace {

/// Placeholder for a mesh that the configuration file declares.
Mesh named_mesh(const std::string& name) {
  Mesh mesh;
  mesh.name = name;
  return mesh;
}

const std::string& checked_name(const char* what, const std::string& name) {
  const auto bad = first_invalid_utf8(name);
  if (!bad) return name;
  fail(Code::usage,
       "found the {} name '{}' with the byte 0x{:02x}, which is not UTF-8, expected UTF-8 text; rename it, or convert "
       "it in the program",
       what, escaped_utf8(name), static_cast<unsigned>(static_cast<unsigned char>(name[*bad])));
}

}  // namespace

std::string Declarations::in_utf8(const char* what, const std::string& of, std::string text) const {
  const auto bad = first_invalid_utf8(text);
  if (!bad) return text;
  if (latin_1) return utf8_of_latin_1(text);
  fail(
      Code::usage,
      "found the {} '{}' of '{}' with the byte 0x{:02x}, which is not UTF-8, expected UTF-8 text; convert it, or write "
      "'encoding: latin-1' in the configuration if the program's texts are in that",
      what, escaped_utf8(text), of, static_cast<unsigned>(static_cast<unsigned char>(text[*bad])));
}

void Declarations::set(const std::string& name, std::variant<std::int64_t, double> value) {
  parameters.insert_or_assign(checked_name("parameter", name), value);
}

void Declarations::add_mesh(Mesh mesh) {
  const Mesh* known = metadata.find_mesh(checked_name("mesh", mesh.name));
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
  if (metadata.find_variable(checked_name("variable", variable.name))) {
    fail(Code::usage, "the variable '{}' is declared twice; give each variable its own name", variable.name);
  }
  if (!metadata.find_mesh(mesh)) add_mesh(named_mesh(mesh));
  variable.mesh = metadata.find_mesh(mesh)->id;
  variable.unit = in_utf8("unit", variable.name, std::move(variable.unit));
  variable.label = in_utf8("label", variable.name, std::move(variable.label));
  variable.group = in_utf8("group", variable.name, std::move(variable.group));
  variable.id = static_cast<std::int32_t>(metadata.variables.size());
  metadata.variables.push_back(std::move(variable));
}

void Declarations::add_array(const std::string& mesh, Role role, const std::string& variable) {
  arrays.push_back({checked_name("mesh", mesh), role, checked_name("variable", variable)});
}

void Declarations::set_attribute(const std::string& variable, const std::string& attribute, const std::string& value) {
  const std::string name = current_attribute(checked_name("attribute", attribute));
  if (name != attribute) former_attributes.insert(attribute);
  attributes.push_back({checked_name("variable", variable), name, in_utf8("value of an attribute", variable, value)});
}

/// Returns the mesh if it was declared by a call or by blocks, else null.
static Mesh* declared(Metadata& metadata, const std::string& name) {
  const Mesh* known = metadata.find_mesh(name);
  return known && known->geometry ? &metadata.meshes[static_cast<std::size_t>(known->id)] : nullptr;
}

void Declarations::change_mesh(const std::string& name, const char* call, std::function<void(Mesh&)> apply) {
  if (Mesh* mesh = declared(metadata, name)) return apply(*mesh);
  later.push_back({name, call, std::move(apply)});
}

void Declarations::change_declared_mesh(const std::string& name, const char* call,
                                        const std::function<void(Mesh&)>& apply) {
  Mesh* const mesh = declared(metadata, name);
  if (!mesh) fail(Code::usage, "{}: no call has declared the mesh '{}'; declare it first, as a whole", call, name);
  apply(*mesh);
}

void Declarations::apply_later() {
  for (const LaterDeclaration& change : later) {
    Mesh* mesh = declared(metadata, change.mesh);
    if (!mesh) {
      fail(Code::usage,
           "{}: the mesh '{}' is declared by no call and no block; declare it, or say it in the configuration",
           change.call, change.mesh);
    }
    change.apply(*mesh);
  }
  later.clear();
}

void Declarations::apply_arrays(Metadata& final) const {
  for (const ArrayDeclaration& a : arrays) assign_role(final, a.mesh, a.role, a.variable);
  for (const Mesh& mesh : final.meshes) check_arrays(final, mesh);
}

namespace {

/// Sets a free attribute, `attributes.NAME`; returns false for other names.
bool set_free(Variable& variable, const std::string& attribute, const std::string& value) {
  constexpr std::string_view front = "attributes.";
  if (!attribute.starts_with(front)) return false;
  const std::string name = attribute.substr(front.size());
  const std::string wrong = wrong_attribute(name);
  if (!wrong.empty()) fail(Code::usage, "an attribute of the variable '{}' has {}", variable.name, wrong);
  set_attributes(variable.attributes, {attribute_of(name, value)});
  return true;
}

/// Sets a relation between variables. Returns false if `attribute` names none. Names in lists are separated by spaces.
bool set_relation(VariableRelations& relations, const std::string& attribute, const std::string& value) {
  if (attribute == "parent") {
    relations.parent = value;
  } else if (attribute == "equals") {
    relations.equals = value;
  } else if (attribute == "face") {
    relations.face = value;
  } else if (attribute == "opposite") {
    relations.opposite = value;
  } else if (attribute == "divergence_free") {
    std::istringstream words(value);
    relations.divergence_free.clear();
    for (std::string word; words >> word;) relations.divergence_free.push_back(word);
  } else {
    return false;
  }
  return true;
}

}  // namespace

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
    } else if (a.attribute == "ghosts" && (a.value == "filled" || a.value == "untrusted")) {
      variable.filled = a.value == "filled";
    } else if (!set_free(variable, a.attribute, a.value) && !set_relation(variable.relations, a.attribute, a.value)) {
      fail(
          Code::usage,
          "the attribute '{}' of the variable '{}' is set to '{}'; expected unit, label, group or attributes.NAME with a text, "
          "time_varying with true or false, ghosts with filled or untrusted, or parent, equals, face, opposite or "
          "divergence_free with what the configuration has for them",
          a.attribute, a.variable, a.value);
    }
  }
  for (const AttributeDeclaration& a : attributes) check_relations(final, *final.find_variable(a.variable));
}

namespace {

template <class T, class Plain>
concept SameAs = std::is_same_v<std::remove_const_t<T>, Plain>;

// The largest value of each enumeration.
constexpr Type last_of(Type) { return Type::float64; }
constexpr Centering last_of(Centering) { return Centering::node; }
constexpr Order last_of(Order) { return Order::row; }
constexpr Role last_of(Role) { return Role::owned; }

/// Reader of the encoding. The bytes may come from a file of any origin, so flags and enumerations are checked.
class Decoder {
 public:
  explicit Decoder(BytesView view) : in_(view, Code::file, sentence(too_short)) {}
  template <class T>
  T value() {
    return in_.get<T>();
  }
  void get(auto& value) { in_.get(value); }
  void get(bool& flag) {
    const auto byte = value<unsigned char>();
    if (byte > 1) wrong("a flag that is neither set nor not");
    flag = byte == 1;
  }
  void get(std::array<bool, 3>& flags) {
    for (bool& flag : flags) get(flag);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void get(Enum& one) {
    const auto number = value<std::underlying_type_t<Enum>>();
    if (number < 0 || number > static_cast<std::underlying_type_t<Enum>>(last_of(one))) {
      wrong("a number that stands for nothing");
    }
    one = static_cast<Enum>(number);
  }
  void get(decltype(Attribute::value)& one) {
    const auto type = value<std::uint64_t>();
    if (type > 2) wrong("an attribute that is neither number nor text");
    if (type == 0) one = value<std::int64_t>();
    if (type == 1) one = value<double>();
    if (type == 2) one = text();
  }
  template <HasFields T>
  void get(T& all) {
    std::apply([&](auto&... field) { (get(field), ...); }, fields_of(all));
  }
  template <HasFields T>
  void get(std::vector<T>& list) {
    for (std::size_t n = count(); n > 0; --n) get(list.emplace_back());
  }
  [[noreturn]] static void wrong(const char* what) { throw Error(Code::file, sentence(what)); }
  std::string text() { return value<std::string>(); }
  /// Reads a number of items. Each takes at least a byte, so the number is bounded.
  [[nodiscard]] std::size_t count() {
    const auto number = value<std::uint64_t>();
    if (number > in_.left()) wrong(too_short);
    return number;
  }

 private:
  static constexpr const char* too_short = "less than they say: they end too early";
  static std::string sentence(const char* what) {
    return fmt::format("the declarations hold {}; they were not written by Sidestream, or by another version of it",
                       what);
  }
  ByteReader in_;
};

/// The members of a mesh or a variable that are encoded in sequence, in the order of the bytes. All members are bound
/// here, so that a new one is not forgotten. Ids follow from the order, geometries and derivations are handled
/// separately, and made meshes come from the configuration.
auto sent_members(SameAs<Mesh> auto& mesh) {
  auto& [id, name, cells, dimensions, geometry, periodic, refinement, fixed, made, owned_points, units, labels,
         attributes, arrays] = mesh;
  return std::tie(name, cells, dimensions, periodic, refinement, fixed, owned_points, units, labels, attributes,
                  arrays);
}
auto sent_members(SameAs<Variable> auto& variable) {
  auto& [id, name, mesh, type, centering, components, order, time_varying, unit, label, group, role, filled, relations,
         attributes, derivation] = variable;
  return std::tie(name, mesh, type, centering, components, order, time_varying, unit, label, group, role, filled,
                  relations, attributes);
}

void put_members(ByteWriter& out, const auto& of) {
  std::apply([&](const auto&... member) { (write_fields(out, member), ...); }, sent_members(of));
}

void get_members(Decoder& in, auto& of) {
  std::apply([&](auto&... member) { (in.get(member), ...); }, sent_members(of));
}

void encode_mesh(ByteWriter& out, const Mesh& mesh) {
  put_members(out, mesh);
  const std::string kind = mesh.geometry ? mesh.geometry->kind() : "";
  out.put(kind);
  if (const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh.geometry.get())) {
    out.put(tree->roots());
    out.put(tree->origin());
    out.put(tree->spacing());
    return;
  }
  const Axes* axes = mesh.axes();
  if (axes == nullptr) return;  // its arrays give the positions
  if (const auto* uniform = dynamic_cast<const UniformGeometry*>(mesh.geometry.get())) {
    out.put(uniform->origin());
    out.put(uniform->spacing());
    return;
  }
  for (int axis = 0; axis < 3; ++axis) {
    for (Index i = mesh.cells.lo[axis]; i <= mesh.cells.hi[axis]; ++i) out.put(axes->node(axis, i));
  }
}

/// Checks that the mesh's boxes, levels and axes are safe to compute with.
void check(const Mesh& mesh) {
  constexpr Index far = Index{1} << 62;
  for (int axis = 0; axis < 3; ++axis) {
    const Index lo = mesh.cells.lo[axis], hi = mesh.cells.hi[axis];
    if (lo > hi || lo < -far || hi > far) Decoder::wrong("a mesh whose cells end before they begin, or far too far");
  }
  if (mesh.dimensions < 1 || mesh.dimensions > 3) Decoder::wrong("a mesh of neither 1, 2 nor 3 dimensions");
  Index points = 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (__builtin_mul_overflow(points, mesh.cells.extent(axis) + 1, &points)) {
      Decoder::wrong("a mesh with more points than can be counted");
    }
  }
  Index3 ratio{1, 1, 1};
  for (const Index3& step : mesh.refinement) {
    for (int axis = 0; axis < 3; ++axis) {
      if (step[axis] < 1 || __builtin_mul_overflow(ratio[axis], step[axis], &ratio[axis])) {
        Decoder::wrong("a refinement that cannot be counted with");
      }
    }
  }
}

Mesh decode_mesh(Decoder& in) {
  Mesh mesh;
  get_members(in, mesh);
  check(mesh);
  const std::string kind = in.text();
  if (kind.empty()) return mesh;
  if (kind == "uniform") {
    const auto origin = in.value<std::array<double, 3>>();
    mesh.geometry = std::make_shared<UniformGeometry>(origin, in.value<std::array<double, 3>>());
    return mesh;
  }
  if (kind == "octree") {
    const auto roots = in.value<Index3>();
    Index count = 1;
    for (const Index n : roots) {
      if (n < 1 || __builtin_mul_overflow(count, n, &count)) Decoder::wrong("a tree over no or too many root cells");
    }
    const auto origin = in.value<std::array<double, 3>>();
    mesh.geometry = std::make_shared<OctreeGeometry>(roots, origin, in.value<std::array<double, 3>>());
    return mesh;
  }
  for (const MeshKind type : {MeshKind::curvilinear, MeshKind::unstructured, MeshKind::points}) {
    mesh.geometry = std::make_shared<ArrayGeometry>(type);
    if (mesh.geometry->kind() == kind) return mesh;
  }
  if (kind != "rectilinear") Decoder::wrong("a mesh of a kind that is not known here");
  std::array<std::vector<double>, 3> nodes;
  for (int axis = 0; axis < 3; ++axis) {
    for (Index i = 0; i <= mesh.cells.extent(axis); ++i) nodes[axis].push_back(in.value<double>());
  }
  mesh.geometry = std::make_shared<RectilinearGeometry>(mesh.cells.lo, std::move(nodes));
  return mesh;
}

/// Checks that the arrays of meshes are declared variables.
void check_arrays_known(const Metadata& metadata) {
  for (const Mesh& mesh : metadata.meshes) {
    for (const std::int32_t id : mesh.arrays) {
      if (id < -1 || id >= static_cast<std::int32_t>(metadata.variables.size())) {
        Decoder::wrong("a mesh with an array that is not declared");
      }
    }
  }
}

}  // namespace

Bytes Declarations::encode() const {
  ByteWriter out;
  out.put(static_cast<std::uint64_t>(parameters.size()));
  for (const auto& [name, value] : parameters) {
    out.put(name);
    out.put(static_cast<std::int32_t>(value.index()));
    std::visit([&](auto v) { out.put(v); }, value);
  }
  out.put(static_cast<std::uint64_t>(metadata.meshes.size()));
  for (const Mesh& mesh : metadata.meshes) encode_mesh(out, mesh);
  out.put(static_cast<std::uint64_t>(metadata.variables.size()));
  for (const Variable& variable : metadata.variables) put_members(out, variable);
  write_fields(out, attributes);
  write_fields(out, arrays);
  return out.take();
}

Declarations Declarations::decode(BytesView bytes) {
  Decoder in(bytes);
  Declarations all;
  for (std::size_t n = in.count(); n > 0; --n) {
    const std::string name = in.text();
    const auto kind = in.value<std::int32_t>();
    if (kind != 0 && kind != 1) Decoder::wrong("a parameter that is no number");
    if (kind == 0) {
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
    Variable variable;
    get_members(in, variable);
    if (variable.components < 1) Decoder::wrong("a variable without components");
    if (variable.mesh < 0 || static_cast<std::size_t>(variable.mesh) >= all.metadata.meshes.size()) {
      Decoder::wrong("a variable on a mesh that is not declared");
    }
    variable.id = static_cast<std::int32_t>(all.metadata.variables.size());
    all.metadata.variables.push_back(std::move(variable));
  }
  check_arrays_known(all.metadata);
  in.get(all.attributes);
  for (AttributeDeclaration& one : all.attributes) one.attribute = current_attribute(one.attribute);
  in.get(all.arrays);
  return all;
}

}  // namespace sidestream
