#include "storage/trees/chunk_coding.hpp"

#include <algorithm>
#include <cmath>

#include "data/relation_text.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

class Declaring {
 public:
  Declaring(const Variable& variable, const VariableRelations& relations, std::int32_t component,
            const FindCompanion& find)
      : variable_(variable), relations_(relations), component_(component), find_(find) {}

  void parent(int dimensions) {
    const ParentRelation parent = parse_parent(relations_.parent);
    if (parent.sum) made_.relations.factor = std::ldexp(1.0, -dimensions);
    MeanRelation mean;
    if (!all_there(parent.of)) return;
    for (const RelationProduct& product : parent.of) {
      if (!has_own(product)) {
        mean.offset.push_back(term(product));
        continue;
      }
      mean.scale = product.coefficient;
      for (const RelationFactor& factor : product.times) {
        if (factor.variable != variable_.name) mean.weight = number_of(factor);
      }
    }
    made_.relations.mean = std::move(mean);
  }

  void equals() {
    const std::vector<RelationProduct> products = parse_products(relations_.equals);
    if (!all_there(products)) return;
    for (const RelationProduct& product : products) made_.relations.closure.push_back(term(product));
  }

  void face() {
    const CellFace at = parse_face(relations_.face);
    FaceRelation face;
    face.axis = at.axis;
    face.high = at.high;
    if (!relations_.opposite.empty() && there(relations_.opposite))
      face.opposite = number_of({relations_.opposite, -1});
    // Without a declared opposite face, the divergence propagates from cell to cell. If that face is declared but
    // missing in this chunk, the divergence is not used, for compatibility with streams of earlier versions.
    const bool leads = relations_.opposite.empty() || face.opposite >= 0;
    if (leads && std::all_of(relations_.divergence_free.begin(), relations_.divergence_free.end(),
                             [&](const std::string& name) { return there(name); })) {
      for (const std::string& name : relations_.divergence_free) face.others.push_back(number_of({name, -1}));
    }
    made_.relations.face = std::move(face);
  }

  DeclaredRelations take() {
    made_.relations.companions = static_cast<int>(made_.companions.size());
    return std::move(made_);
  }

 private:
  [[nodiscard]] bool there(const std::string& name) const { return find_(name) != nullptr; }
  [[nodiscard]] bool all_there(const std::vector<RelationProduct>& products) const {
    const auto known = [&](const RelationFactor& f) { return f.variable == variable_.name || there(f.variable); };
    return std::all_of(products.begin(), products.end(), [&](const RelationProduct& product) {
      return std::all_of(product.times.begin(), product.times.end(), known) &&
             std::all_of(product.over.begin(), product.over.end(), known);
    });
  }
  [[nodiscard]] bool has_own(const RelationProduct& product) const {
    return std::any_of(product.times.begin(), product.times.end(),
                       [&](const RelationFactor& f) { return f.variable == variable_.name; });
  }
  int number_of(const RelationFactor& factor) {
    const std::int32_t of_value = find_(factor.variable)->components == 1 ? 0 : component_;
    const NamedComponent named{factor.variable, factor.component >= 0 ? factor.component : of_value};
    const auto found = std::find(made_.companions.begin(), made_.companions.end(), named);
    if (found != made_.companions.end()) return static_cast<int>(found - made_.companions.begin());
    made_.companions.push_back(named);
    return static_cast<int>(made_.companions.size()) - 1;
  }
  RelationTerm term(const RelationProduct& product) {
    RelationTerm made{product.coefficient, {}, {}};
    for (const RelationFactor& factor : product.times) made.times.push_back(number_of(factor));
    for (const RelationFactor& factor : product.over) made.over.push_back(number_of(factor));
    return made;
  }

  const Variable& variable_;
  const VariableRelations& relations_;
  std::int32_t component_;
  const FindCompanion& find_;
  DeclaredRelations made_;
};

}  // namespace

DeclaredRelations declared_relations(const Variable& variable, const VariableRelations& relations,
                                     std::int32_t component, int dimensions, const FindCompanion& find) {
  Declaring declaring(variable, relations, component, find);
  if (!relations.parent.empty()) declaring.parent(dimensions);
  if (!relations.equals.empty()) declaring.equals();
  if (!relations.face.empty()) declaring.face();
  return declaring.take();
}

}  // namespace sidestream
