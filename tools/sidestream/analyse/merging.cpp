#include "analyse/merging.hpp"

#include <algorithm>

#include "config/meshes.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::analysing {

namespace {

Mesh* find(std::vector<Mesh>& meshes, const std::string& name) {
  const auto found = std::find_if(meshes.begin(), meshes.end(), [&](const Mesh& mesh) { return mesh.name == name; });
  return found == meshes.end() ? nullptr : &*found;
}

/// The first difference, except for the number of levels; empty if there is none.
std::string difference(Mesh a, Mesh b) {
  const std::size_t levels = std::min(a.refinement.size(), b.refinement.size());
  a.refinement.resize(levels);
  b.refinement.resize(levels);
  return difference_of(a, b);
}

bool is_real(const Variable& variable) { return variable.type == Type::float32 || variable.type == Type::float64; }

/// Reals of both widths are compatible: see add_variable.
const char* difference(const Variable& a, const Variable& b) {
  if (a.type != b.type && !(is_real(a) && is_real(b))) return "type";
  if (a.centering != b.centering) return "centering";
  if (a.components != b.components) return "components";
  if (a.order != b.order) return "order";
  return a.role != b.role ? "role" : nullptr;
}

}  // namespace

void Merging::add(const Metadata& metadata, const std::string& where) {
  for (const Mesh& mesh : metadata.meshes) add_mesh(mesh, where);
  for (const Variable& variable : metadata.variables) add_variable(variable, metadata.mesh_of(variable).name, where);
}

void Merging::add_mesh(const Mesh& mesh, const std::string& where) {
  Mesh* known = find(all_.meshes, mesh.name);
  if (known == nullptr) {
    all_.meshes.push_back(mesh);
    all_.meshes.back().id = static_cast<std::int32_t>(all_.meshes.size()) - 1;
    all_.meshes.back().arrays.fill(-1);
    first_["mesh " + mesh.name] = where;
    return;
  }
  const std::string what = difference(*known, mesh);
  if (!what.empty()) {
    fail(Code::file, "{} has the mesh '{}' with other {} than {}; analyse files of one mesh at a time", where,
         mesh.name, what, first_["mesh " + mesh.name]);
  }
  if (mesh.refinement.size() > known->refinement.size()) known->refinement = mesh.refinement;
}

void Merging::add_variable(const Variable& variable, const std::string& mesh, const std::string& where) {
  const Variable* known = all_.find_variable(variable.name);
  if (known == nullptr) {
    Variable added = variable;
    added.id = static_cast<std::int32_t>(all_.variables.size());
    Mesh& on = *find(all_.meshes, mesh);
    added.mesh = on.id;
    if (added.role != Role::none) on.arrays[static_cast<std::size_t>(added.role)] = added.id;
    all_.variables.push_back(std::move(added));
    first_["variable " + variable.name] = where;
    return;
  }
  if (known->type != variable.type && is_real(*known) && is_real(variable)) {
    all_.variables[static_cast<std::size_t>(known->id)].type = Type::float64;
  }
  const char* what = all_.mesh_of(*known).name != mesh ? "mesh" : difference(*known, variable);
  if (what == nullptr) return;
  fail(Code::file, "{} has the variable '{}' with another {} than {}; analyse them one after the other", where,
       variable.name, what, first_["variable " + variable.name]);
}

}  // namespace sidestream::analysing
