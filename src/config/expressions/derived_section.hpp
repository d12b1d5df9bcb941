// Variables that servers compute from others: the section `derived`, and expressions in place of names.
#pragma once

#include <string>

#include "config/expressions/expression.hpp"
#include "config/options/document.hpp"
#include "config/sections.hpp"

namespace sidestream {

[[nodiscard]] Section derived_section();

/// Adds the variables of the section behind those of `metadata`, in the file's order: each may use those before it.
/// Throws Error(configuration).
void read_derived(const Document& document, const ExpressionContext& expressions, Metadata& metadata);

/// Whether a text can only be an expression, if it is no variable's name.
[[nodiscard]] bool is_expression(const std::string& text);

/// Adds the variable that the expression stands for, named as it is written. Throws Error(configuration).
void derive_in_place(const Node& node, const ExpressionContext& expressions, Metadata& metadata);

}  // namespace sidestream
