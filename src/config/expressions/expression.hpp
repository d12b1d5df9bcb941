// Arithmetic with parameters: `$nx`, `2 * ($nx - 1)`, `0.5`.
// Messages quote the text of an expression and its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/expressions/parse.hpp"
#include "config/config.hpp"
#include "config/options/document.hpp"

namespace sidestream {

/// The time of evaluation: a $name's value may still come from the program, or is known.
enum class Stage {
  opening,  ///< while the session opens, before the program can set parameters
  start,    ///< at the start, when everything that the program sets is known
};

struct ExpressionContext {
  const Parameters& parameters;
  Stage stage = Stage::start;
};

using Number = std::variant<std::int64_t, double>;

/// Evaluates `text`: numbers, $names, + - * / and parentheses. Whole numbers stay whole (64 bits, overflow is
/// an error); a quotient of whole numbers that does not come out even is real. `what` names the option in
/// messages, `where` is the place of the text's first character. Throws Error(configuration).
[[nodiscard]] Number evaluate(const std::string& text, const ExpressionContext& context, const std::string& what,
                              const Location& where);

/// The value of the parameter `name`. Throws Error(configuration) if it has none.
[[nodiscard]] Number value_of_parameter(std::string_view name, const ExpressionContext& context,
                                        const std::string& what, const Location& where);

[[nodiscard]] double as_real(const Number& number) noexcept;

/// A text and its place. Keeps references.
struct ExpressionText {
  const std::string& text;
  const std::string& what;  ///< name of the text in messages
  const Location& where;    ///< place of its first character

  [[nodiscard]] Location place(std::size_t position) const;
  /// Throws Error(configuration): "found 'text' for what, " and the problem.
  [[noreturn]] void wrong(std::size_t position, const std::string& problem) const;
  /// The clause of a message that quotes the unreadable rest of the text.
  [[nodiscard]] std::string unreadable(std::size_t position) const;
};

/// Parses a text. Messages about syntax errors have the clause of `unreadable`, and `expected`. Throws
/// Error(configuration).
[[nodiscard]] SyntaxTree parse_text(const ExpressionText& text, const SyntaxRules& rules, const std::string& expected);

}  // namespace sidestream
