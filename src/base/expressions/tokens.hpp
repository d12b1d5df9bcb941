// Splits the text of an expression into numbers, names and signs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace sidestream {

/// A mistake in the form of an expression. what() is a clause for messages: "in which an operator is missing here".
class SyntaxError : public std::runtime_error {
 public:
  enum class Kind {
    unreadable,         ///< a character that does not fit there
    ends,               ///< the text ends too early
    unclosed,           ///< a parenthesis, at the position, is not closed at the end of the text
    unclosed_quote,     ///< a quote, at the position, is not closed
    operator_missing,   ///< a second operand follows an operand
    operator_found,     ///< an operator stands where an operand is expected
    parenthesis_found,  ///< a parenthesis does not fit
    comma_found,        ///< a comma stands outside of a function's arguments, or without one before it
    conditional,        ///< a `?` without `:` or the reverse
    index,              ///< `[` without a whole number and `]`
    too_deep,           ///< nested deeper than SyntaxRules::deepest
    too_long            ///< longer than SyntaxRules::longest
  };
  SyntaxError(Kind kind, std::size_t position);
  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  /// Offset of the character; the text's length if it ends too early.
  [[nodiscard]] std::size_t position() const noexcept { return position_; }

 private:
  Kind kind_;
  std::size_t position_;
};

/// A token of an expression.
struct Token {
  enum class Kind { end, number, parameter, word, quoted, sign };
  Kind kind = Kind::end;
  std::size_t begin = 0, end = 0;  ///< its characters in the text, with quotes and `$`
  std::string_view text{};         ///< without quotes and `$`
};

/// Reads the first token at or after `position`; blanks before it are skipped. Throws SyntaxError.
[[nodiscard]] Token read_token(std::string_view text, std::size_t position);

/// Reads a token likewise, but letters, digits and _ are one word even if the first is a digit: a name where no number
/// is allowed.
[[nodiscard]] Token read_name(std::string_view text, std::size_t position);

/// The value of a number token; nothing if it does not fit in 64 bits.
[[nodiscard]] std::optional<double> real_number(std::string_view digits);

/// The value of a number token as a whole number; nothing if it has a point or an exponent, or does not fit in 64 bits.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view digits);

}  // namespace sidestream
