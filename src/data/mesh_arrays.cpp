// Arrays that define meshes: roles, and selections.
//
// 1. The table `rules` has, for each role, the kinds of meshes that know it, its centring and its types. assign_role
//    and check_arrays enforce it.
// 2. with_mesh_arrays: adds to a selection the arrays that its meshes need: all of them, or, without geometry, those
//    that say which cells and points count.
// 3. check_selection: everything that a plug-in may select wrongly is refused here, so that no transport reads outside
//    of an array.
#include "data/mesh_arrays.hpp"
#include "sidestream/kit/data/selected_arrays.hpp"

#include <algorithm>

#include "data/owned_points.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

/// Requirements on a variable for it to have a role.
struct RoleRule {
  bool curvilinear, unstructured, points, octree;  ///< kinds of meshes that know the role
  bool needed;                                     ///< required by the kinds of meshes that know the role
  Centering centering;
  const char* types;  ///< in words
};

constexpr RoleRule rules[role_count] = {
    {true, true, true, true, false, Centering::cell, ""},
    {true, true, true, false, true, Centering::node, "float32 or float64"},
    {false, true, false, false, true, Centering::cell, "int32 or int64"},
    {false, true, false, false, true, Centering::cell, "int32 or int64"},
    {false, true, false, false, true, Centering::cell, "uint8"},
    {false, true, false, false, false, Centering::cell, "int32 or int64"},
    {false, true, false, false, false, Centering::cell, "int32 or int64"},
    {false, true, true, false, false, Centering::node, "int32 or int64"},
    {false, true, false, false, false, Centering::cell, "int32 or int64"},
    {true, true, true, false, false, Centering::node, "uint8"},
    {true, true, false, false, false, Centering::cell, "uint8"},
    {false, false, false, true, true, Centering::cell, "uint8"},
    {false, false, false, true, false, Centering::cell, "uint8"},
};

const RoleRule& rule_of(Role role) { return rules[static_cast<std::size_t>(role)]; }

bool fits(const std::string& types, Type type) {
  if (types == "uint8") return type == Type::uint8;
  if (types.starts_with("float")) return type == Type::float32 || type == Type::float64;
  return type == Type::int32 || type == Type::int64;
}

void check_fit(const Mesh& mesh, Role role, const Variable& variable) {
  const RoleRule& rule = rule_of(role);
  if (!knows_role(mesh.kind(), role)) {
    fail(Code::configuration, "the mesh '{}' is {} and has no {}; remove it", mesh.name,
         mesh.geometry ? mesh.geometry->kind() : "not declared", name_of(role));
  }
  if (!fits(rule.types, variable.type)) {
    fail(Code::configuration, "the variable '{}' has the type {}, expected {} for the {} of the mesh '{}'; change it",
         variable.name, name_of(variable.type), rule.types, name_of(role), mesh.name);
  }
  const std::int32_t components = role == Role::coordinates ? mesh.dimensions : 1;
  // Surfaces and curves in space have more coordinates than axes.
  const bool in_space = role == Role::coordinates && mesh.kind() == MeshKind::curvilinear && mesh.dimensions < 3;
  if (variable.components == components) return;
  if (in_space && variable.components > components && variable.components <= 3) return;
  fail(Code::configuration,
       "the variable '{}' has {} components, expected {}{} for the {} of the mesh '{}' of {} dimensions; change it",
       variable.name, variable.components, components, in_space ? ", or 3 if it lies in space," : "", name_of(role),
       mesh.name, mesh.dimensions);
}

template <class Declared>
Declared& named(std::vector<Declared>& all, const std::string& name, const char* what) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Declared& one) { return one.name == name; });
  if (found != all.end()) return *found;
  fail(Code::configuration, "there is no {} '{}'; declare it or correct the name", what, name);
}

}  // namespace

bool knows_role(MeshKind kind, Role role) noexcept {
  const RoleRule& rule = rule_of(role);
  return kind == MeshKind::curvilinear    ? rule.curvilinear
         : kind == MeshKind::unstructured ? rule.unstructured
         : kind == MeshKind::points       ? rule.points
         : kind == MeshKind::octree       ? rule.octree
                                          : role == Role::point_ghosts || role == Role::cell_ghosts;
}

std::optional<Role> role_named(std::string_view name) noexcept {
  for (int n = 1; n < role_count; ++n) {
    if (name_of(static_cast<Role>(n)) == name) return static_cast<Role>(n);
  }
  return std::nullopt;
}

void assign_role(Metadata& metadata, const std::string& mesh_name, Role role, const std::string& variable_name) {
  Mesh& mesh = named(metadata.meshes, mesh_name, "mesh");
  Variable& variable = named(metadata.variables, variable_name, "variable");
  if (variable.mesh != mesh.id) {
    fail(Code::configuration, "the variable '{}' lies on another mesh than '{}', whose {} it cannot be; name another",
         variable_name, mesh_name, name_of(role));
  }
  std::int32_t& known = mesh.arrays[static_cast<std::size_t>(role)];
  if (known == variable.id && variable.role == role) return;
  if (known >= 0 && known != variable.id) {
    fail(Code::configuration, "the mesh '{}' has the {} '{}' already, and '{}' is given as well; name one of them",
         mesh_name, name_of(role), metadata.variables[static_cast<std::size_t>(known)].name, variable_name);
  }
  if (variable.role != Role::none && variable.role != role) {
    fail(Code::configuration, "the variable '{}' is the {} of the mesh '{}' already and cannot be its {}; name another",
         variable_name, name_of(variable.role), mesh_name, name_of(role));
  }
  check_fit(mesh, role, variable);
  known = variable.id;
  variable.role = role;
  variable.centering = reduced(rule_of(role).centering, mesh.dimensions);
}

void check_arrays(const Metadata& metadata, const Mesh& mesh) {
  if (mesh.kind() < MeshKind::curvilinear) return;
  for (int n = 1; n < role_count; ++n) {
    const auto role = static_cast<Role>(n);
    if (!rule_of(role).needed || !knows_role(mesh.kind(), role) || mesh.array(role) >= 0) continue;
    fail(Code::configuration, "the mesh '{}' is {} and has no {}; name the variable that has them", mesh.name,
         mesh.geometry->kind(), name_of(role));
  }
  if ((mesh.array(Role::faces) < 0) != (mesh.array(Role::face_offsets) < 0)) {
    fail(Code::configuration, "the mesh '{}' has only one of faces and face_offsets; name variables for both",
         mesh.name);
  }
  for (const Variable& variable : metadata.variables) {
    if (mesh.kind() == MeshKind::octree && variable.mesh == mesh.id && variable.centering != Centering::cell) {
      fail(Code::configuration, "the variable '{}' lies at {}s of the mesh '{}', which is an octree; expected cell",
           variable.name, name_of(variable.centering, mesh.dimensions), mesh.name);
    }
    if (!mesh.is_list() || variable.mesh != mesh.id || variable.centering == Centering::cell ||
        variable.centering == nodes_of(mesh.dimensions)) {
      continue;
    }
    fail(Code::configuration, "the variable '{}' lies at {}s of the mesh '{}', which is {}; expected cell or node",
         variable.name, name_of(variable.centering, mesh.dimensions), mesh.name, mesh.geometry->kind());
  }
}

namespace {

/// True for flags and trees. On meshes without them, true for the numbers that identify points of several blocks.
bool says_what_counts(const Mesh& mesh, Role role) {
  return role == Role::point_ghosts || role == Role::cell_ghosts || role == Role::refined || role == Role::owned ||
         (role == Role::point_ids && mesh.array(Role::point_ghosts) < 0) ||
         (role == Role::cell_ids && mesh.array(Role::cell_ghosts) < 0);
}

/// The same part, with the selected variable filled in if the part depends on it.
Part part_for(const Selected& selected) {
  Part part = selected.part;
  if (part.plane.of < 0) part.plane.of = selected.variable;
  if (part.values.of.variable < 0) part.values.of.variable = selected.variable;
  return part;
}

}  // namespace

std::vector<Selected> with_mesh_arrays(const Selection& selection, const Metadata& metadata) {
  check_selection(selection, metadata);
  std::vector<Selected> all = selection.variables;
  for (Selected& selected : all) {
    selected.completed = selected.completed && selection.geometry;
    select_without_ranges(selected, metadata);
  }
  for (const Selected& selected : selection.variables) {
    const Mesh& mesh = metadata.mesh_of(metadata.variables[static_cast<std::size_t>(selected.variable)]);
    for (const std::int32_t id : mesh.arrays) {
      if (id < 0 || id == selected.variable) continue;
      if (!selection.geometry && !says_what_counts(mesh, metadata.variables[static_cast<std::size_t>(id)].role))
        continue;
      Selected& one = all.emplace_back(id, selected.halo, part_for(selected), selected.decomposition);
      one.wrap = selected.wrap;
      one.covered = selected.covered;
      one.completed = selected.completed && selection.geometry;
    }
  }
  return all;
}

std::vector<std::int32_t> with_mesh_arrays(std::vector<std::int32_t> variables, const Metadata& metadata) {
  std::vector<std::int32_t> all = variables;
  for (const std::int32_t id : variables) {
    for (const std::int32_t array : metadata.mesh_of(metadata.variables.at(static_cast<std::size_t>(id))).arrays) {
      if (array >= 0) all.push_back(array);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

namespace {

const Variable& variable_of(std::int32_t id, const Metadata& metadata) {
  const auto count = static_cast<std::int32_t>(metadata.variables.size());
  if (id >= 0 && id < count) return metadata.variables[static_cast<std::size_t>(id)];
  fail(Code::usage, "an analysis selects the variable of number {}; expected one from 0 to {}", id, count - 1);
}

/// Checks that a range's component exists. Ranges are measured next to the values, also in the simulation, so reading
/// outside of an array must be impossible.
void check_range(const RangeRequest& range, const Metadata& metadata) {
  const Variable& variable = variable_of(range.variable, metadata);
  if (range.component >= 0 && range.component < variable.components) return;
  fail(Code::usage, "an analysis asks for the range of component {} of the variable '{}'; expected one from 0 to {}",
       range.component, variable.name, variable.components - 1);
}

void check_part(const Selected& selected, const Metadata& metadata) {
  const Part& part = selected.part;
  if (part.kind == Part::Kind::plane && part.plane.of >= 0) static_cast<void>(variable_of(part.plane.of, metadata));
  if (part.kind == Part::Kind::predicate && part.predicate.range.variable >= 0) {
    check_range(part.predicate.range, metadata);
  }
  if (part.kind != Part::Kind::values) return;
  RangeRequest of = part.values.of;
  if (of.variable < 0) of.variable = selected.variable;
  check_range(of, metadata);
}

void check_decomposition(const Selected& selected, const Variable& variable, const Mesh& mesh) {
  const Decomposition& wanted = selected.decomposition;
  if (wanted.is_published()) return;
  if (mesh.is_list() || !mesh.refinement.empty()) {
    fail(Code::configuration,
         "the variable '{}' is asked for in pieces of its mesh '{}', which {}; only structured meshes of one level can "
         "be divided anew: use variables on another mesh",
         variable.name, mesh.name,
         mesh.is_list() ? "is " + mesh.geometry->kind() : std::string("has refinement levels"));
  }
  if (selected.part.kind != Part::Kind::all) {
    fail(
        Code::configuration,
        "the variable '{}' is asked for in pieces of its mesh, and only a part of it; pieces are of the whole mesh: ask "
        "for one of the two",
        variable.name);
  }
  const bool known = wanted.kind >= Decomposition::Kind::slabs && wanted.kind <= Decomposition::Kind::bricks;
  const bool has_axis = wanted.kind != Decomposition::Kind::bricks;
  if (known && (!has_axis || (wanted.axis >= 0 && wanted.axis < mesh.dimensions))) return;
  fail(Code::configuration,
       "the variable '{}' is asked for in pieces of kind {} along axis {} of its mesh '{}' of {} dimensions; expected "
       "slabs (1), pencils (2) or bricks (3), and an axis that the mesh uses, from 0",
       variable.name, static_cast<int>(wanted.kind), wanted.axis, mesh.name, mesh.dimensions);
}

}  // namespace

void check_selection(const Selection& selection, const Metadata& metadata) {
  for (const Selected& selected : selection.variables) {
    const Variable& variable = variable_of(selected.variable, metadata);
    const Mesh& mesh = metadata.mesh_of(variable);
    if (selected.halo > 0 && mesh.is_list()) {
      fail(Code::configuration,
           "values around the blocks of '{}' are asked for, but blocks of the mesh '{}', which is {}, are lists with "
           "nothing around them; use variables on another mesh",
           variable.name, mesh.name, mesh.geometry->kind());
    }
    check_part(selected, metadata);
    check_decomposition(selected, variable, mesh);
  }
  for (const RangeRequest& range : selection.ranges) {
    check_range(range, metadata);
    const Variable& variable = variable_of(range.variable, metadata);
    if (!variable.derived()) continue;
    fail(Code::configuration,
         "the range of the variable '{}' on each block is asked for, which is derived; ranges are measured of what is "
         "published: name another",
         variable.name);
  }
}

}  // namespace sidestream
