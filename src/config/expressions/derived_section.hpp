// Variables that servers compute from others: the section `derived`, and expressions where a name is expected.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/expressions/expression.hpp"
#include "config/options/document.hpp"
#include "config/sections.hpp"
#include "data/derivation.hpp"
#include "sidestream/data/mesh.hpp"

namespace sidestream {

[[nodiscard]] Section derived_section();

/// Adds the variables of the section to `metadata`, in the file's order: each may use all variables before it. Throws
/// Error(configuration).
void read_derived(const Document& document, const ExpressionContext& expressions, Metadata& metadata);

/// True if a text that is no variable's name can only be an expression.
[[nodiscard]] bool is_expression(const std::string& text);

/// Adds the variable that the expression stands for, named as it is written. Throws Error(configuration).
void derive_in_place(const Node& node, const ExpressionContext& expressions, Metadata& metadata);

// The places of the steps of a derived variable on an unstructured mesh.

/// Derivatives there are of values at points, and lie in cells: marks these steps, and checks that joined values lie at
/// the same places. Other meshes need no marks. Returns the fault, to follow "found 'text' for WHAT, "; empty: none.
[[nodiscard]] std::string place_steps(std::vector<DerivationStep>& steps, const Metadata& metadata, const Mesh& mesh);

// Functions of derived variables that a formula of numbers can't express: of vectors, and of neighbours.

struct DerivedFunction {
  std::string_view name;
  std::size_t arguments;  ///< 0: two or more
  DerivationStep::Kind kind;
};

[[nodiscard]] const std::vector<DerivedFunction>& derived_functions();

/// The number of components of the function's result, for arguments with `given` components on the mesh. If they do not
/// fit, it is 0 and `wrong` describes the mistake.
[[nodiscard]] std::int32_t result_components(const DerivedFunction& function, const std::vector<std::int32_t>& given,
                                             const Mesh& mesh, std::string& wrong);

}  // namespace sidestream
