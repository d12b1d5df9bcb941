// Relations that are declared for a variable, in the form of the coder of values.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/relation_text.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/tree_codec.hpp"

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
  std::vector<NamedComponent> companions;  ///< in the order in which `relations` numbers them
};

/// Finds a variable whose values both the coder and its decoders have; null if they do not.
using FindCompanion = std::function<const Variable*(const std::string& name)>;

/// The relations of one component of a variable on a mesh of `dimensions`. `parent`, `equals` and the face are each
/// left out if they name a variable that `find` does not have. Throws Error(configuration) if a text is invalid.
[[nodiscard]] DeclaredRelations declared_relations(const Variable& variable, const VariableRelations& relations,
                                                   std::int32_t component, int dimensions, const FindCompanion& find);

}  // namespace sidestream
