// Translation of Ascent's expressions (queries, triggers, filters) to conditions and formulas.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sidestream/extend/options.hpp"

namespace sidestream::ascent {

/// The surroundings of an expression.
struct ExpressionNames {
  /// Text and place of the query of that name, or null.
  std::function<const std::pair<std::string, Location>*(const std::string&)> query;
  /// Notes a field with at least so many components; returns the variable as expressions name it.
  std::function<std::string(const std::string& field, int components)> field;
};

/// A translated condition: what `when` and `every` say.
struct TranslatedCondition {
  std::string when;   ///< empty: always
  std::string every;  ///< empty: in each iteration
};

/// A translated query.
struct TranslatedQuery {
  std::string number;               ///< a number as conditions have it; empty for a histogram
  std::vector<std::string> fields;  ///< the variables whose statistics it has
  std::string bins;                 ///< number of intervals, if it is a histogram of the field
};

/// These throw Refused, with the place of the text and the part that has no counterpart.
[[nodiscard]] TranslatedCondition translated_condition(const std::string& text, const Location& where,
                                                       const ExpressionNames& names);
[[nodiscard]] TranslatedQuery translated_query(const std::string& text, const Location& where,
                                               const ExpressionNames& names);
/// The formula of a derived variable: the value of fields at a point.
[[nodiscard]] std::string translated_formula(const std::string& text, const Location& where,
                                             const ExpressionNames& names);

}  // namespace sidestream::ascent
