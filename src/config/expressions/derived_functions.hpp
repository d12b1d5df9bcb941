// Functions of derived variables that a formula of numbers can't express: of vectors, and of neighbours.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "data/derivation.hpp"

namespace sidestream {

struct DerivedFunction {
  std::string_view name;
  std::size_t arguments;  ///< 0: two or more
  DerivationStep::Kind kind;
};

[[nodiscard]] const std::vector<DerivedFunction>& derived_functions();

/// How many components the function makes of arguments with `given` components on the mesh; 0 if it can't, and then
/// `wrong` says what was found and what was expected.
[[nodiscard]] std::int32_t result_components(const DerivedFunction& function, const std::vector<std::int32_t>& given,
                                             const Mesh& mesh, std::string& wrong);

}  // namespace sidestream
