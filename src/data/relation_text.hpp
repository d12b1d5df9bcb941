// Parsing of relations between values of trees (VariableRelations).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sidestream/data/metadata.hpp"

namespace sidestream {

/// A variable in the same cell. `component` -1: its only component, or the component of the variable with the relation.
struct RelationFactor {
  std::string variable;
  std::int32_t component = -1;
  bool operator==(const RelationFactor& other) const noexcept {
    return variable == other.variable && component == other.component;
  }
};

/// The product coefficient * times / over.
struct RelationProduct {
  double coefficient = 1;
  std::vector<RelationFactor> times, over;
};

/// Parses `2 * density / mass - 0.5 * density * velocity.x^2`: a sum of products of numbers and names (in quotes if
/// they have characters other than letters, digits and _). Throws Error(configuration) with the found and the expected
/// text.
[[nodiscard]] std::vector<RelationProduct> parse_products(std::string_view text);

/// A parsed `parent` relation.
struct ParentRelation {
  bool sum = false;  ///< a parent has the sum of its children' values; otherwise the mean of `of`
  /// The products that contain the variable itself, all of which follow this relation. If empty, the relation holds for
  /// the value.
  std::vector<RelationProduct> of{};
};
/// Parses `sum`, `mean` or `mean of PRODUCTS`. Throws as parse_products.
[[nodiscard]] ParentRelation parse_parent(std::string_view text);

/// A face of a cell: `low-x` ... `high-z`.
struct CellFace {
  int axis = 0;
  bool high = false;
};
/// Parses a face. Throws Error(configuration).
[[nodiscard]] CellFace parse_face(std::string_view text);

/// The variables that a variable's relations name, each once, in the order of their first mention.
[[nodiscard]] std::vector<std::string> named_in(const std::string& variable, const VariableRelations& relations);

}  // namespace sidestream
