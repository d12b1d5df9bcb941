// The bound as a configuration writes it.
#include <cmath>

#include "bounded_codec/bounded.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"
#include "sidestream/kit/base/numbers.hpp"

namespace sidestream::bounded {

namespace {

/// Sets what the word before the colon says.
void set_relation(const std::string& argument, const std::string& word, Bound& bound) {
  if (word == "range") {
    bound.relation = Relation::range;
  } else if (word == "each") {
    bound.relation = Relation::each;
  } else {
    fail(Code::configuration,
         "found 'bounded:{}', expected the largest error that is allowed, or its part of the range or of each value, "
         "as in 'bounded:1e-3', 'bounded:range:1e-4' and 'bounded:each:1e-3'; {}",
         argument, suggestion(word, {"range", "each"}, "write one of them"));
  }
}

bool is_allowed(const Bound& bound) {
  if (!std::isfinite(bound.most) || bound.most <= 0) return false;
  if (bound.relation == Relation::each) return bound.most >= least_part && bound.most < 1;
  return bound.relation == Relation::none || bound.most < 1;
}

}  // namespace

Bound bound_of(const std::string& argument) {
  Bound bound;
  const std::size_t colon = argument.find(':');
  if (colon != std::string::npos) set_relation(argument, argument.substr(0, colon), bound);
  const std::string number = colon == std::string::npos ? argument : argument.substr(colon + 1);
  const std::optional<double> most = number.starts_with('+') ? std::nullopt : real_of(number);
  bound.most = most.value_or(0);
  if (!is_allowed(bound)) {
    fail(Code::configuration,
         "found 'bounded:{}', expected the largest error that is allowed, a number above 0, or 'range:' and its part "
         "of the range, below 1, or 'each:' and its part of each value, from 1e-8 to below 1, as in 'bounded:1e-3', "
         "'bounded:range:1e-4' and 'bounded:each:1e-3'; write such a number",
         argument);
  }
  return bound;
}

}  // namespace sidestream::bounded
