// The text of an expression as messages quote it.
#pragma once

#include <cstddef>
#include <string>

#include "base/expressions/parse.hpp"
#include "config/options/document.hpp"

namespace sidestream {

/// A text and its place. Keeps references.
struct ExpressionText {
  const std::string& text;
  const std::string& what;  ///< name of the text in messages
  const Location& where;    ///< place of its first character

  [[nodiscard]] Location place(std::size_t position) const;
  /// Throws Error(configuration): "found 'text' for what, " and the problem.
  [[noreturn]] void wrong(std::size_t position, const std::string& problem) const;
  /// The clause that says that the text cannot be read from there on.
  [[nodiscard]] std::string unreadable(std::size_t position) const;
};

/// Parses a text. Messages about syntax errors have the clause of `unreadable`, and `expected`. Throws
/// Error(configuration).
[[nodiscard]] SyntaxTree parse_text(const ExpressionText& text, const SyntaxRules& rules, const std::string& expected);

}  // namespace sidestream
