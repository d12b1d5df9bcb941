// Parsing of derived variables, from the text to the steps that compute them.
#pragma once

#include <memory>
#include <string>

#include "config/expressions/expression.hpp"
#include "data/derivation.hpp"

namespace sidestream {

/// Parses arithmetic and functions of numbers. Operands are names of variables (in quotes if they are not words), also
/// of earlier derived ones; the coordinates x, y, z of the point; time, cycle, iteration; pi; $parameters; the
/// derived_functions; cic, ngp and tsc of particles, which lie where the other variables do, in the cells of a uniform
/// mesh. `.x` or `[0]` after a vector is one of its components; arithmetic of vectors is done component by component.
/// Names of variables hide other ones. `what` names the whole in messages, `where` is the place of its first character.
/// `on`: if not null, a variable at the points of the result; the expression must have a deposit then. Throws
/// Error(configuration).
[[nodiscard]] std::shared_ptr<const Derivation> parse_derivation(const std::string& text,
                                                                 const ExpressionContext& context,
                                                                 const Metadata& metadata, const std::string& what,
                                                                 const Location& where, const Variable* on = nullptr);

}  // namespace sidestream
