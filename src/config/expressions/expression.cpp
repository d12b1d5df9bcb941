#include "config/expressions/expression.hpp"

#include <cmath>
#include <vector>

#include "sidestream/kit/base/names.hpp"

namespace sidestream {

namespace {

using NodeKind = SyntaxNode::Kind;

constexpr const char* expected_size = "a number or an expression of numbers and $names with + - * / and parentheses";

/// Computes the nodes of a tree one after the other.
class Evaluator {
 public:
  Evaluator(const ExpressionText& text, const ExpressionContext& context) : text_(text), context_(context) {}

  Number run() {
    for (const SyntaxNode& node : parse_text(text_, {}, expected_size)) values_.push_back(value_of(node));
    return values_.back();
  }

 private:
  Number value_of(const SyntaxNode& node) const {
    switch (node.kind) {
      case NodeKind::number:
        return number(node);
      case NodeKind::parameter:
        return value_of_parameter(node.text, context_, text_.what, text_.place(node.begin));
      case NodeKind::unary:
        if (node.sign == Operator::plus) return values_[node.children[0]];
        return combine(node, Number(std::int64_t{0}), values_[node.children[0]]);
      case NodeKind::binary:
        return combine(node, values_[node.children[0]], values_[node.children[1]]);
      case NodeKind::conditional:
      case NodeKind::component:
        not_understood(node.at);
      default:
        not_understood(node.begin);
    }
  }

  Number number(const SyntaxNode& node) const {
    if (const std::optional<std::int64_t> whole = whole_number(node.text)) return *whole;
    const bool is_whole = node.text.find_first_not_of("0123456789") == std::string_view::npos;
    const std::optional<double> real = real_number(node.text);
    if (is_whole || !real) too_large(node.begin);
    return *real;
  }

  Number combine(const SyntaxNode& node, const Number& a, const Number& b) const {
    if (std::holds_alternative<std::int64_t>(a) && std::holds_alternative<std::int64_t>(b)) {
      return combine_whole(node, std::get<std::int64_t>(a), std::get<std::int64_t>(b));
    }
    const double x = as_real(a), y = as_real(b);
    double result = 0;
    switch (node.sign) {
      case Operator::add:
        result = x + y;
        break;
      case Operator::subtract:
      case Operator::minus:
        result = x - y;
        break;
      case Operator::multiply:
        result = x * y;
        break;
      case Operator::divide:
        if (y == 0) division_by_zero();
        result = x / y;
        break;
      default:
        not_understood(node.at);
    }
    if (!std::isfinite(result)) too_large(node.at);
    return result;
  }

  Number combine_whole(const SyntaxNode& node, std::int64_t a, std::int64_t b) const {
    std::int64_t result = 0;
    bool overflow = false;
    switch (node.sign) {
      case Operator::add:
        overflow = __builtin_add_overflow(a, b, &result);
        break;
      case Operator::subtract:
      case Operator::minus:
        overflow = __builtin_sub_overflow(a, b, &result);
        break;
      case Operator::multiply:
        overflow = __builtin_mul_overflow(a, b, &result);
        break;
      case Operator::divide:
        if (b == 0) division_by_zero();
        if (b == -1) {
          overflow = __builtin_sub_overflow(std::int64_t{0}, a, &result);
          break;
        }
        if (a % b != 0) return static_cast<double>(a) / static_cast<double>(b);
        result = a / b;
        break;
      default:
        not_understood(node.at);
    }
    if (overflow) too_large(node.at);
    return result;
  }

  [[noreturn]] void not_understood(std::size_t position) const {
    text_.wrong(position, fmt::format("{}; expected {}", text_.unreadable(position), expected_size));
  }
  [[noreturn]] void too_large(std::size_t position) const {
    text_.wrong(position, "whose value does not fit in 64 bits; write a smaller number");
  }
  [[noreturn]] void division_by_zero() const { text_.wrong(0, "which divides by zero; change the divisor"); }

  const ExpressionText& text_;
  const ExpressionContext& context_;
  std::vector<Number> values_{};  ///< by node
};

}  // namespace

Number evaluate(const std::string& text, const ExpressionContext& context, const std::string& what,
                const Location& where) {
  return Evaluator({text, what, where}, context).run();
}

Number value_of_parameter(std::string_view name, const ExpressionContext& context, const std::string& what,
                          const Location& where) {
  const auto found = context.parameters.find(std::string(name));
  if (found != context.parameters.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [key, value] : context.parameters) known.push_back("$" + key);
  // Without the '$', which would make short names look alike.
  const std::string near = did_you_mean(std::string(name), keys_of(context.parameters));
  const std::string guess = near.empty() ? "" : fmt::format("did you mean '${}'? Otherwise ", near);
  if (context.stage == Stage::opening) {
    fail_at(where,
            "found ${} for {}, which is needed before the program can set it (known here: {}); {}write a number, or "
            "give {} a value under 'parameters:'",
            name, what, listed(known), guess, name);
  }
  fail_at(where,
          "${} has no value for {} (set are: {}); {}let the program set it before it starts, give it a value under "
          "'parameters:', or with 'sidestream check' give --set {}=VALUE",
          name, what, listed(known), guess, name);
}

double as_real(const Number& number) noexcept {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

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
