// The text of an expression as messages quote it.
#pragma once

#include <cstddef>
#include <string>

#include "base/expressions/parse.hpp"
#include "config/options/document.hpp"

namespace sidestream {

/// Refers to what it is made of.
struct ExpressionText {
  const std::string& text;
  const std::string& what;  ///< what it is given for
  const Location& where;    ///< of its first character

  [[nodiscard]] Location place(std::size_t position) const;
  /// Throws Error(configuration): "found 'text' for what, " and the problem.
  [[noreturn]] void wrong(std::size_t position, const std::string& problem) const;
  /// The part of the problem that says that the text cannot be read from there on.
  [[nodiscard]] std::string unreadable(std::size_t position) const;
};

/// The tree of a text. Mistakes are what `unreadable` says, and then `expected`. Throws Error(configuration).
[[nodiscard]] SyntaxTree parse_text(const ExpressionText& text, const SyntaxRules& rules, const std::string& expected);

}  // namespace sidestream
