#include "config/expressions/relations.hpp"

#include <algorithm>
#include <set>

#include "data/relation_text.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {

namespace {

bool in_cells(const Metadata& metadata, const Variable& v, std::int32_t mesh) {
  return v.mesh == mesh && metadata.mesh_of(v).kind() == MeshKind::octree && v.centering == Centering::cell &&
         v.role == Role::none && !v.derived();
}

const Variable& named(const Metadata& metadata, const Variable& variable, const std::string& name) {
  const Variable* found = metadata.find_variable(name);
  if (found != nullptr && in_cells(metadata, *found, variable.mesh)) return *found;
  std::vector<std::string> known;
  for (const Variable& v : metadata.variables) {
    if (in_cells(metadata, v, variable.mesh)) known.push_back(v.name);
  }
  fail(Code::configuration, "the relations of '{}' name '{}', expected a variable in cells of the octree '{}': {}; {}",
       variable.name, name, metadata.mesh_of(variable).name, listed(known),
       suggestion(name, known, "correct the name"));
}

void check_factor(const Metadata& metadata, const Variable& variable, const RelationFactor& factor) {
  const Variable& of = named(metadata, variable, factor.variable);
  const bool own = factor.component < 0 && (of.components == 1 || of.components == variable.components);
  if (own || (factor.component >= 0 && factor.component < of.components)) return;
  fail(Code::configuration,
       "the relations of '{}' name {} of '{}', which has {} components; write one of them: {}.x, or {}[0] to {}[{}]",
       variable.name, factor.component < 0 ? "all" : fmt::format("component {}", factor.component), of.name,
       of.components, of.name, of.name, of.name, of.components - 1);
}

/// Checks the relation of a parent: exactly one product has the variable itself, once, with at most one other variable.
void check_mean(const Variable& variable, const std::vector<RelationProduct>& products) {
  if (products.empty()) return;
  int own = 0;
  for (const RelationProduct& product : products) {
    const auto is_own = [&](const RelationFactor& f) { return f.variable == variable.name; };
    const auto count = std::count_if(product.times.begin(), product.times.end(), is_own);
    const bool divided = std::any_of(product.over.begin(), product.over.end(), is_own);
    own += static_cast<int>(count);
    const bool plain = count == 0 || (product.times.size() <= 2 && product.over.empty() && product.coefficient != 0);
    if (count > 1 || divided || !plain) own = 2;
  }
  if (own == 1) return;
  fail(
      Code::configuration,
      "the parent of '{}' has the relation '{}', which must have '{}' in exactly one product, times a number and at most "
      "one other variable, as in 'mean of density * {}'; change it",
      variable.name, variable.relations.parent, variable.name, variable.name);
}

void check_faces(const Metadata& metadata, const Variable& variable) {
  const VariableRelations& relations = variable.relations;
  const Mesh& mesh = metadata.mesh_of(variable);
  if (relations.face.empty()) {
    if (relations.opposite.empty() && relations.divergence_free.empty()) return;
    fail(Code::configuration, "'{}' has 'opposite' or 'divergence_free' without 'face'; say which face it lies on",
         variable.name);
  }
  if (parse_face(relations.face).axis >= mesh.dimensions) {
    fail(Code::configuration, "'{}' lies on the face {}, but the mesh '{}' has {} dimensions; correct it",
         variable.name, relations.face, mesh.name, mesh.dimensions);
  }
  const std::size_t others = static_cast<std::size_t>(2 * (mesh.dimensions - 1));
  const std::size_t given = relations.divergence_free.size();
  if (given != 0 && given != others) {
    fail(Code::configuration,
         "'divergence_free' of '{}' names {} variables, expected {}: of each other axis the low and the high face; "
         "change it",
         variable.name, given, others);
  }
}

/// Values must be decoded one after the other.
void check_order(const Metadata& metadata, const Variable& variable) {
  std::set<std::string> reached;
  std::vector<std::string> next = named_in(variable.name, variable.relations);
  while (!next.empty()) {
    const std::string name = next.back();
    next.pop_back();
    if (name == variable.name) {
      fail(
          Code::configuration,
          "the relations of '{}' lead back to it by those of others; leave out one of them, so that values can be decoded "
          "one after the other",
          variable.name);
    }
    const Variable* of = metadata.find_variable(name);
    if (of == nullptr || !reached.insert(name).second) continue;
    for (const std::string& further : named_in(of->name, of->relations)) next.push_back(further);
  }
}

}  // namespace

void check_relations(const Metadata& metadata, const Variable& variable) {
  const VariableRelations& relations = variable.relations;
  if (relations == VariableRelations{}) return;
  if (!in_cells(metadata, variable, variable.mesh)) {
    fail(
        Code::configuration,
        "found relations ('parent', 'equals', 'face') of '{}', expected them only of values in cells of octrees; remove them",
        variable.name);
  }
  const auto check_products = [&](const std::vector<RelationProduct>& products) {
    for (const RelationProduct& product : products) {
      for (const RelationFactor& factor : product.times) check_factor(metadata, variable, factor);
      for (const RelationFactor& factor : product.over) check_factor(metadata, variable, factor);
    }
  };
  if (!relations.parent.empty()) {
    const ParentRelation parent = parse_parent(relations.parent);
    check_products(parent.of);
    check_mean(variable, parent.of);
  }
  if (!relations.equals.empty()) {
    const std::vector<RelationProduct> products = parse_products(relations.equals);
    check_products(products);
    for (const RelationProduct& product : products) {
      for (const auto* list : {&product.times, &product.over}) {
        for (const RelationFactor& factor : *list) {
          if (factor.variable == variable.name) {
            fail(Code::configuration, "'equals' of '{}' names itself, expected other variables; remove it",
                 variable.name);
          }
        }
      }
    }
  }
  check_faces(metadata, variable);
  for (const std::string& name : named_in(variable.name, variable.relations))
    static_cast<void>(named(metadata, variable, name));
  check_order(metadata, variable);
}

}  // namespace sidestream
