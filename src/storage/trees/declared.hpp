// What is declared of a variable, as its coder takes it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/relation_text.hpp"
#include "sidestream/data/metadata.hpp"
#include "storage/trees/values/value_coder.hpp"

namespace sidestream {

/// A component of another variable.
struct NamedComponent {
  std::string variable;
  std::int32_t component = 0;
  bool operator==(const NamedComponent& other) const noexcept {
    return variable == other.variable && component == other.component;
  }
};

struct DeclaredRelations {
  Relations relations;
  std::vector<NamedComponent> companions;  ///< as `relations` counts them
};

/// A variable whose values are at hand, for the coder and for whoever decodes alike; null: they are not.
using FindCompanion = std::function<const Variable*(const std::string& name)>;

/// Of one component of a variable on a mesh of `dimensions`. What names a variable that is not at hand is left out,
/// `parent`, `equals` and the face each by itself. Throws Error(configuration) where the texts make no sense.
[[nodiscard]] DeclaredRelations declared_relations(const Variable& variable, const VariableRelations& relations,
                                                   std::int32_t component, int dimensions, const FindCompanion& find);

}  // namespace sidestream
