// From the text of a derived variable to the steps that compute it.
#pragma once

#include <memory>
#include <string>

#include "config/expressions/expression.hpp"
#include "data/derivation.hpp"

namespace sidestream {

/// Arithmetic and functions of numbers, of: names of variables (between quotes, if they are no words) and of derived
/// ones before it; the coordinates x, y, z of the point; time, cycle, iteration; pi; $parameters; the
/// derived_functions; cic, ngp and tsc of particles, which lie where the other variables do, in the cells of a uniform
/// mesh. `.x` or `[0]` behind a vector is one of its components; arithmetic of vectors is of their components, one by
/// one. Names of variables hide other ones. `what` names the whole in messages, `where` is the
/// place of its first character. `on`: if not null, a variable where the result lies: then with particles. Throws
/// Error(configuration).
[[nodiscard]] std::shared_ptr<const Derivation> parse_derivation(const std::string& text,
                                                                 const ExpressionContext& context,
                                                                 const Metadata& metadata, const std::string& what,
                                                                 const Location& where, const Variable* on = nullptr);

}  // namespace sidestream
