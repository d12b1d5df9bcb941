#include "config/expressions/expression_text.hpp"

namespace sidestream {

Location ExpressionText::place(std::size_t position) const {
  Location there = where;
  if (there.line > 0) there.column += static_cast<int>(position);
  return there;
}

void ExpressionText::wrong(std::size_t position, const std::string& problem) const {
  fail_at(place(position), "found '{}' for {}, {}", text, what, problem);
}

std::string ExpressionText::unreadable(std::size_t position) const {
  return position < text.size() ? fmt::format("where '{}' cannot be read", text.substr(position))
                                : std::string("which ends too early");
}

SyntaxTree parse_text(const ExpressionText& text, const SyntaxRules& rules, const std::string& expected) {
  using Fault = SyntaxError::Kind;
  try {
    return parse_expression(text.text, rules);
  } catch (const SyntaxError& error) {
    if (error.kind() == Fault::too_deep) {
      fail_at(text.place(error.position()),
              "found more than {} nested parentheses or signs for {}, expected fewer; simplify it", rules.deepest,
              text.what);
    }
    if (error.kind() == Fault::too_long) {
      fail_at(text.where, "found a text of {} characters for {}, expected at most {}; simplify it", text.text.size(),
              text.what, rules.longest);
    }
    const std::size_t at = error.kind() == Fault::unclosed ? text.text.size() : error.position();
    text.wrong(at, fmt::format("{}; expected {}", text.unreadable(at), expected));
  }
}

}  // namespace sidestream
