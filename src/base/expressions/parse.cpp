// A recursive-descent parser, with precedence climbing for binary operators (Richards and Whitby-Strevens, "BCPL: the
// language and its compiler", 1979). It makes a tree in which children stand before their parents.
//
// From loose to tight: conditionals, or, and, not, comparisons, sums, products, signs, powers, components. Chains of
// conditionals are a loop, everything else is recursive up to `deepest`.
// The first fault throws a SyntaxError with its kind and position; callers turn it into a sentence.
#include "base/expressions/parse.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace sidestream {

namespace {

using Fault = SyntaxError::Kind;
using NodeKind = SyntaxNode::Kind;

struct OperatorWord {
  std::string_view word;
  Operator sign;
  int level;  ///< precedence; higher levels bind closer
};

constexpr int negation_level = 3;
constexpr std::array<OperatorWord, 16> operator_words{{
    {"or", Operator::either, 1},
    {"||", Operator::either, 1},
    {"and", Operator::both, 2},
    {"&&", Operator::both, 2},
    {"not", Operator::negation, 0},
    {"<", Operator::less, 4},
    {"<=", Operator::less_equal, 4},
    {">", Operator::greater, 4},
    {">=", Operator::greater_equal, 4},
    {"==", Operator::equal, 4},
    {"!=", Operator::unequal, 4},
    {"+", Operator::add, 5},
    {"-", Operator::subtract, 5},
    {"*", Operator::multiply, 6},
    {"/", Operator::divide, 6},
    {"^", Operator::power, 0},  // level 0: not for the loop over levels
}};

/// A recursive-descent parser, with precedence climbing for binary operators.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const SyntaxRules& rules) : text_(text), rules_(rules) {
    if (text.size() > rules.longest) throw SyntaxError(Fault::too_long, 0);
    next_ = read_token(text_, 0);
  }

  SyntaxTree run() {
    conditional();
    if (next_.kind != Token::Kind::end) unexpected(false);
    return std::move(tree_);
  }

 private:
  /// Counts the nesting depth as long as it exists.
  class DepthGuard {
   public:
    explicit DepthGuard(ExpressionParser& parser) : depth_(parser.depth_) {
      if (++depth_ > parser.rules_.deepest) throw SyntaxError(Fault::too_deep, parser.next_.begin);
    }
    ~DepthGuard() { --depth_; }
    DepthGuard(const DepthGuard&) = delete;
    DepthGuard& operator=(const DepthGuard&) = delete;

   private:
    int& depth_;
  };

  [[nodiscard]] bool is(std::string_view sign) const { return next_.kind == Token::Kind::sign && next_.text == sign; }
  [[nodiscard]] bool is_word(std::string_view word) const {
    return next_.kind == Token::Kind::word && next_.text == word;
  }
  Token advance() {
    const Token taken = next_;
    last_end_ = taken.end;
    next_ = read_token(text_, taken.end);
    return taken;
  }
  bool take(std::string_view sign) {
    if (!is(sign)) return false;
    advance();
    return true;
  }

  /// Reports that the next token does not fit. `operand`: an operand is expected, otherwise an operator or the end.
  [[noreturn]] void unexpected(bool operand) const {
    const auto fault = [&] {
      if (next_.kind == Token::Kind::end) return open_.empty() || operand ? Fault::ends : Fault::unclosed;
      if (is(")") || (is("(") && !operand)) return Fault::parenthesis_found;
      if (is(",")) return Fault::comma_found;
      if (is("?") || is(":")) return Fault::conditional;
      if (is(".") || is("[") || is("]")) return Fault::unreadable;
      return next_.kind == Token::Kind::sign ? Fault::operator_found : Fault::operator_missing;
    }();
    throw SyntaxError(fault, fault == Fault::unclosed ? open_.back() : next_.begin);
  }

  std::size_t add(SyntaxNode node) {
    tree_.push_back(std::move(node));
    return tree_.size() - 1;
  }
  std::size_t join(Operator sign, std::size_t left, std::size_t right, std::size_t at) {
    return add({.kind = NodeKind::binary,
                .sign = sign,
                .begin = tree_[left].begin,
                .end = tree_[right].end,
                .at = at,
                .children = {left, right}});
  }

  /// Parses `a ? b : c`. A chain `a ? b : c ? d : e` may be long, so it takes no recursion.
  std::size_t conditional() {
    struct Open {
      std::size_t condition, yes, at;
    };
    std::vector<Open> chain;
    std::size_t last = binary(1);
    while (is("?")) {
      const std::size_t at = advance().begin;
      const std::size_t yes = inside_conditional();
      if (!take(":")) throw SyntaxError(Fault::conditional, next_.kind == Token::Kind::end ? at : next_.begin);
      chain.push_back({last, yes, at});
      last = binary(1);
    }
    for (; !chain.empty(); chain.pop_back()) {
      const Open& one = chain.back();
      last = add({.kind = NodeKind::conditional,
                  .begin = tree_[one.condition].begin,
                  .end = tree_[last].end,
                  .at = one.at,
                  .children = {one.condition, one.yes, last}});
    }
    return last;
  }
  std::size_t inside_conditional() {
    const DepthGuard guard(*this);
    return conditional();
  }

  [[nodiscard]] const OperatorWord* operator_from(int level) const {
    if (next_.kind != Token::Kind::sign && next_.kind != Token::Kind::word) return nullptr;
    const auto* const found = std::find_if(operator_words.begin(), operator_words.end(),
                                           [&](const OperatorWord& one) { return one.word == next_.text; });
    return found != operator_words.end() && found->level >= level ? found : nullptr;
  }

  /// Parses operators of this level (above 0) and of higher ones.
  std::size_t binary(int level) {
    const bool negates = rules_.negation && !subject_ && level <= negation_level && is_word("not");
    std::size_t left = negates ? negation() : operand();
    while (const OperatorWord* const sign = operator_from(level)) {
      const std::size_t at = advance().begin;
      const std::size_t right = binary(sign->level + 1);
      left = join(sign->sign, left, right, at);
    }
    return left;
  }

  std::size_t negation() {
    const DepthGuard guard(*this);
    const std::size_t at = advance().begin;
    return add_unary(Operator::negation, at, binary(negation_level));
  }

  std::size_t add_unary(Operator sign, std::size_t at, std::size_t child) {
    return add(
        {.kind = NodeKind::unary, .sign = sign, .begin = at, .end = tree_[child].end, .at = at, .children = {child}});
  }

  std::size_t operand() {
    if (is("-") || is("+")) {
      const DepthGuard guard(*this);
      const Token sign = advance();
      const std::size_t child = operand();
      return add_unary(sign.text == "-" ? Operator::minus : Operator::plus, sign.begin, child);
    }
    const std::size_t base = primary();
    if (!is("^")) return base;
    const DepthGuard guard(*this);
    const std::size_t at = advance().begin;
    const std::size_t exponent = operand();
    return join(Operator::power, base, exponent, at);
  }

  std::size_t primary() {
    const bool subject = std::exchange(subject_, false);
    switch (next_.kind) {
      case Token::Kind::number:
        return leaf(NodeKind::number);
      case Token::Kind::parameter:
        return leaf(NodeKind::parameter);
      case Token::Kind::quoted:
      case Token::Kind::word:
        return components(named(subject));
      case Token::Kind::sign:
        if (is("(")) return components(parenthesis());
        break;
      case Token::Kind::end:
        break;
    }
    unexpected(true);
  }

  std::size_t leaf(NodeKind kind) {
    const bool quoted = next_.kind == Token::Kind::quoted;
    const Token token = advance();
    return add({.kind = kind,
                .begin = token.begin,
                .end = token.end,
                .at = next_.begin,
                .text = token.text,
                .quoted = quoted});
  }

  std::size_t named(bool subject) {
    const std::size_t name = leaf(NodeKind::name);
    tree_[name].subject = subject;
    return is("(") && !subject && !tree_[name].quoted ? call(name) : name;
  }

  std::size_t parenthesis() {
    const DepthGuard guard(*this);
    open_.push_back(next_.begin);
    advance();
    const std::size_t inside = conditional();
    if (!is(")")) unexpected(false);
    tree_[inside].begin = open_.back();
    advance();
    tree_[inside].end = last_end_;
    open_.pop_back();
    return inside;
  }

  /// Turns the name, which is the last node, into a call.
  std::size_t call(std::size_t name) {
    const DepthGuard guard(*this);
    SyntaxNode made = std::move(tree_[name]);
    tree_.pop_back();
    made.kind = NodeKind::call;
    open_.push_back(next_.begin);
    advance();
    const auto& special = rules_.of_names;
    bool subject = std::find(special.begin(), special.end(), made.text) != special.end();
    while (!is(")") || !made.children.empty()) {
      made.children.push_back(subject ? of_name() : conditional());
      subject = false;
      if (!take(",")) break;
    }
    if (!is(")")) unexpected(false);
    advance();
    made.end = last_end_;
    open_.pop_back();
    return add(std::move(made));
  }

  /// Parses the argument of a function in SyntaxRules::of_names.
  std::size_t of_name() {
    next_ = read_name(text_, next_.begin);
    subject_ = true;
    return conditional();
  }

  std::size_t components(std::size_t of) {
    while (const std::optional<std::int32_t> index = component()) {
      of = add({.kind = NodeKind::component,
                .begin = tree_[of].begin,
                .end = last_end_,
                .at = component_at_,
                .index = *index,
                .subject = tree_[of].subject,
                .children = {of}});
    }
    return of;
  }

  /// Takes `.x` or `[0]`, if the next token begins one.
  std::optional<std::int32_t> component() {
    component_at_ = next_.begin;
    if (is(".")) {
      const std::size_t axis_at = next_.end;
      if (axis_at >= text_.size()) unexpected(false);
      const Token axis = read_name(text_, axis_at);
      const bool names_axis = axis.kind == Token::Kind::word && axis.begin == axis_at && axis.text.size() == 1;
      if (!names_axis || axis.text < "x" || axis.text > "z") unexpected(false);
      next_ = axis;
      advance();
      return axis.text[0] - 'x';
    }
    if (!take("[")) return std::nullopt;
    const std::optional<std::int64_t> number =
        next_.kind == Token::Kind::number ? whole_number(next_.text) : std::nullopt;
    if (!number || *number > std::numeric_limits<std::int32_t>::max()) throw SyntaxError(Fault::index, component_at_);
    advance();
    if (!take("]")) throw SyntaxError(Fault::index, component_at_);
    return static_cast<std::int32_t>(*number);
  }

  std::string_view text_;
  const SyntaxRules& rules_;
  Token next_{};
  std::size_t last_end_ = 0;  ///< end of the token before the next one
  std::size_t component_at_ = 0;
  bool subject_ = false;
  int depth_ = 0;
  std::vector<std::size_t> open_{};  ///< positions of open parentheses
  SyntaxTree tree_{};
};

}  // namespace

std::string_view name_of(Operator sign) noexcept {
  if (sign == Operator::minus) return "-";
  if (sign == Operator::plus) return "+";
  const auto* const found = std::find_if(operator_words.begin(), operator_words.end(),
                                         [&](const OperatorWord& one) { return one.sign == sign; });
  return found->word;
}

SyntaxTree parse_expression(std::string_view text, const SyntaxRules& rules) {
  return ExpressionParser(text, rules).run();
}

}  // namespace sidestream
