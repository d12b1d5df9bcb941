#include "data/check_selection.hpp"

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

const Variable& variable_of(std::int32_t id, const Metadata& metadata) {
  const auto count = static_cast<std::int32_t>(metadata.variables.size());
  if (id >= 0 && id < count) return metadata.variables[static_cast<std::size_t>(id)];
  fail(Code::usage, "an analysis selects the variable of number {}; expected one from 0 to {}", id, count - 1);
}

/// Checks that a range's component exists. Ranges are measured where the values are, also in the simulation. Reading
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
