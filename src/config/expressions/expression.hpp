// Arithmetic with parameters: `$nx`, `2 * ($nx - 1)`, `0.5`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "config/config.hpp"

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

}  // namespace sidestream
