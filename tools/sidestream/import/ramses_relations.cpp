#include "import/ramses_relations.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sidestream::importing {

namespace {

using ramses::JoinedColumns;

bool has(const std::vector<JoinedColumns>& variables, const std::string& name) {
  return std::any_of(variables.begin(), variables.end(), [&](const JoinedColumns& v) { return v.name == name; });
}

std::string face_name(char axis, bool high) { return fmt::format("B_{}_{}", axis, high ? "right" : "left"); }

/// Kinetic and magnetic energy as additional products; empty without a velocity.
std::string other_energy(const std::vector<JoinedColumns>& variables) {
  std::string text;
  for (const JoinedColumns& v : variables) {
    if (v.name == "velocity_x") text += " + 0.5 * density * velocity_x^2";
    if (v.name != "velocity") continue;
    for (std::size_t c = 0; c < v.columns.size(); ++c)
      text += fmt::format(" + 0.5 * density * velocity.{}^2", "xyz"[c]);
  }
  for (const char axis : {'x', 'y', 'z'}) {
    const std::string low = face_name(axis, false), high = face_name(axis, true);
    if (text.empty() || !has(variables, low) || !has(variables, high)) continue;
    text += fmt::format(" + 0.125 * {0}^2 + 0.25 * {0} * {1} + 0.125 * {1}^2", low, high);
  }
  return text;
}

/// Relations of the field on a face. High faces refer to the low ones, and the last high face to zero divergence, so
/// that no relation leads back.
VariableRelations of_face(const std::vector<JoinedColumns>& variables, char axis, bool high) {
  VariableRelations relations;
  relations.face = fmt::format("{}-{}", high ? "high" : "low", axis);
  if (!high || !has(variables, face_name(axis, false))) return relations;
  relations.opposite = face_name(axis, false);
  if (axis != 'z') return relations;
  const std::vector<std::string> others{face_name('x', false), face_name('x', true), face_name('y', false),
                                        face_name('y', true)};
  const bool all = std::all_of(others.begin(), others.end(), [&](const std::string& n) { return has(variables, n); });
  if (all) relations.divergence_free = others;
  return relations;
}

VariableRelations relation_of(const ramses::CellColumns& columns, const std::string& name, int dimensions) {
  const std::vector<JoinedColumns>& all = columns.variables;
  VariableRelations relations;
  for (const char axis : {'x', 'y', 'z'}) {
    if (axis - 'x' >= dimensions) break;
    for (const bool high : {false, true}) {
      if (name == face_name(axis, high)) return of_face(all, axis, high);
    }
  }
  if (!has(all, "density")) return relations;
  if (name == "density") {
    relations.parent = "mean";
  } else if (name == "pressure" || name == "thermal_pressure") {
    if (columns.gamma > 1) {
      relations.parent = fmt::format("mean of {} / {}{}", name, columns.gamma - 1, other_energy(all));
    }
  } else {
    relations.parent = fmt::format("mean of density * {}", name);
  }
  return relations;
}

}  // namespace

std::vector<VariableRelations> relations_of(const ramses::CellColumns& columns, int dimensions) {
  std::vector<VariableRelations> relations(columns.variables.size());
  if (columns.kind != ramses::FileKind::hydro) return relations;
  for (std::size_t n = 0; n < relations.size(); ++n) {
    relations[n] = relation_of(columns, columns.variables[n].name, dimensions);
  }
  return relations;
}

}  // namespace sidestream::importing
