// The words of relations between values of trees: VariableRelations, read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sidestream/data/metadata.hpp"

namespace sidestream {

/// A variable in the same cell. `component` -1: its only one, or that of the variable whose relation it is.
struct RelationFactor {
  std::string variable;
  std::int32_t component = -1;
  bool operator==(const RelationFactor& other) const noexcept {
    return variable == other.variable && component == other.component;
  }
};

/// coefficient * times / over.
struct RelationProduct {
  double coefficient = 1;
  std::vector<RelationFactor> times, over;
};

/// `2 * density / mass - 0.5 * density * velocity.x^2`: products of numbers and names (between quotes if they have
/// other characters than letters, digits and _), added up. Throws Error(configuration) with what was found and
/// expected.
[[nodiscard]] std::vector<RelationProduct> parse_products(std::string_view text);

/// What `parent` says.
struct ParentRelation {
  bool sum = false;  ///< a parent has the sum of its children's values; else the mean of what `of` is
  /// The products that have the variable itself; empty: the value alone. Each product counts.
  std::vector<RelationProduct> of{};
};
/// `sum`, `mean` or `mean of PRODUCTS`. Throws as parse_products.
[[nodiscard]] ParentRelation parse_parent(std::string_view text);

/// `low-x` ... `high-z`.
struct CellFace {
  int axis = 0;
  bool high = false;
};
/// Throws Error(configuration).
[[nodiscard]] CellFace parse_face(std::string_view text);

/// The variables that a variable's relations name, each once, in the order in which they are named.
[[nodiscard]] std::vector<std::string> named_in(const std::string& variable, const VariableRelations& relations);

}  // namespace sidestream
