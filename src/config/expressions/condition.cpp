#include "config/expressions/condition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "config/expressions/expression.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {

/// A part of a condition: a number, or, if it is `logical`, 0 or 1. Operands stand before it.
struct Condition::Step {
  enum class Kind { constant, iteration, cycle, time, statistic, unary, binary, absolute, previous, change };
  Kind kind = Kind::constant;
  Operator sign = Operator::add;
  std::size_t first = 0, second = 0;  ///< operands; for a statistic: its number
  double number = 0;
  bool logical = false;
  bool looks_back = false;
};

namespace {

using ConditionStep = Condition::Step;
using NodeKind = SyntaxNode::Kind;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<std::string_view, 4> statistic_names{"min", "max", "mean", "sum"};
constexpr std::array<std::string_view, 3> time_names{"iteration", "cycle", "time"};
constexpr std::array<std::string_view, 3> function_names{"previous", "change", "abs"};
constexpr const char* expected_condition = "a condition such as 'max(temperature) > 500 and cycle > 10'";

template <std::size_t count>
std::optional<std::size_t> number_in(const std::array<std::string_view, count>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

bool joins_conditions(Operator sign) {
  return sign == Operator::either || sign == Operator::both || sign == Operator::negation;
}
bool is_logical(Operator sign) {
  return joins_conditions(sign) || (sign >= Operator::less && sign <= Operator::unequal);
}

/// Translates the tree of a condition to steps, one for each node. Steps of the names in statistics are not used.
class ConditionBuilder {
 public:
  ConditionBuilder(const ExpressionText& text, const ExpressionContext& context, const Metadata& metadata)
      : text_(text), context_(context), metadata_(metadata) {}

  std::vector<ConditionStep> run() {
    constexpr std::size_t longest = 16384;
    if (text_.text.size() > longest) {
      fail_at(text_.where,
              "found a text of {} characters for {}, expected at most {}; divide it among derived variables",
              text_.text.size(), text_.what, longest);
    }
    SyntaxRules rules{.negation = true};
    rules.of_names.assign(statistic_names.begin(), statistic_names.end());
    tree_ = parse_text(text_, rules, expected_condition);
    for (const SyntaxNode& node : tree_) {
      const bool known = number_in(statistic_names, node.text) || number_in(function_names, node.text);
      if (node.kind == NodeKind::call && !known) unknown_word(node);
    }
    for (const SyntaxNode& node : tree_) steps_.push_back(step_of(node));
    if (!steps_.back().logical) {
      text_.wrong(0, fmt::format("which is a number and no condition; compare it, as in '{} > 1'", text_.text));
    }
    return std::move(steps_);
  }
  std::vector<Statistic> statistics{};

 private:
  ConditionStep step_of(const SyntaxNode& node) {
    if (node.subject) return {};
    if (node.kind != NodeKind::call && has_subject(node)) not_understood(node.at);
    switch (node.kind) {
      case NodeKind::number:
        if (const std::optional<double> value = real_number(node.text)) return {.number = *value};
        not_understood(node.begin);
      case NodeKind::parameter:
        return {.number = as_real(value_of_parameter(node.text, context_, text_.what, text_.place(node.begin)))};
      case NodeKind::name:
        return named(node);
      case NodeKind::unary:
        return unary(node);
      case NodeKind::binary:
        return binary(node);
      case NodeKind::call:
        return call(node);
      default:
        not_understood(node.at);
    }
  }

  [[nodiscard]] bool has_subject(const SyntaxNode& node) const {
    return std::any_of(node.children.begin(), node.children.end(),
                       [this](std::size_t child) { return tree_[child].subject; });
  }

  ConditionStep named(const SyntaxNode& node) const {
    const std::optional<std::size_t> time = node.quoted ? std::nullopt : number_in(time_names, node.text);
    if (!time) unknown_word(node);
    constexpr std::array kinds{ConditionStep::Kind::iteration, ConditionStep::Kind::cycle, ConditionStep::Kind::time};
    return {.kind = kinds[*time]};
  }

  ConditionStep unary(const SyntaxNode& node) const {
    const std::size_t of = node.children[0];
    if (node.sign == Operator::plus) return joined(ConditionStep::Kind::unary, node, of, of, steps_[of].logical);
    check(node, of, node.sign == Operator::negation);
    return joined(ConditionStep::Kind::unary, node, of, of, node.sign == Operator::negation);
  }

  ConditionStep binary(const SyntaxNode& node) const {
    if (node.sign == Operator::power) not_understood(node.at);
    for (const std::size_t side : node.children) check(node, side, joins_conditions(node.sign));
    return joined(ConditionStep::Kind::binary, node, node.children[0], node.children[1], is_logical(node.sign));
  }

  [[nodiscard]] ConditionStep joined(ConditionStep::Kind kind, const SyntaxNode& node, std::size_t first,
                                     std::size_t second, bool logical) const {
    return {.kind = kind,
            .sign = node.sign,
            .first = first,
            .second = second,
            .logical = logical,
            .looks_back = steps_[first].looks_back || steps_[second].looks_back};
  }

  /// Checks a side of an operator: both sides must be conditions, or both numbers.
  void check(const SyntaxNode& node, std::size_t side, bool logical) const {
    if (steps_[side].logical == logical) return;
    const std::string_view of = node.kind == NodeKind::call ? node.text : name_of(node.sign);
    text_.wrong(node.at, fmt::format("in which '{}' stands beside {}; expected {} there", of,
                                     logical ? "a number" : "a condition",
                                     logical ? "a condition, as in 'a > 1 and b > 2'" : "a number"));
  }

  ConditionStep call(const SyntaxNode& node) {
    if (const std::optional<std::size_t> what = number_in(statistic_names, node.text)) {
      return statistic(node, static_cast<Statistic::What>(*what));
    }
    const std::size_t function = *number_in(function_names, node.text);
    if (node.children.size() != 1) not_understood(node.children.empty() ? node.at : node.end);
    check(node, node.children[0], false);
    constexpr std::array kinds{ConditionStep::Kind::previous, ConditionStep::Kind::change,
                               ConditionStep::Kind::absolute};
    ConditionStep made = joined(kinds[function], node, node.children[0], node.children[0], false);
    if (made.kind == ConditionStep::Kind::absolute) return made;
    if (made.looks_back) {
      text_.wrong(node.begin,
                  "which looks back further than one iteration; write 'previous' and 'change' around what does not "
                  "contain them");
    }
    made.looks_back = true;
    return made;
  }

  ConditionStep statistic(const SyntaxNode& node, Statistic::What what) {
    if (node.children.empty() || node.children.size() > 2) not_understood(node.at);
    const SyntaxNode& subject = tree_[node.children[0]];
    if (!subject.subject) not_understood(subject.kind == NodeKind::name ? subject.begin : subject.at);
    const bool chosen = subject.kind == NodeKind::component;
    const SyntaxNode& of = chosen ? tree_[subject.children[0]] : subject;
    if (of.kind != NodeKind::name || (chosen && node.children.size() == 2)) not_understood(of.at);
    const std::string name(of.text);
    const Variable* variable = metadata_.find_variable(name);
    if (variable == nullptr) {
      std::vector<std::string> known;
      for (const Variable& one : metadata_.variables) known.push_back(one.name);
      fail_at(text_.place(of.begin), "found the unknown variable '{}' for {}, expected one of {}; {}", name, text_.what,
              listed(known), suggestion(name, known, "declare it, or correct the name"));
    }
    Statistic made{what, variable->id, 0};
    if (chosen) made.component = component(subject.index, subject.at, *variable);
    if (node.children.size() == 2) {
      const SyntaxNode& second = tree_[node.children[1]];
      const std::optional<std::int64_t> whole =
          second.kind == NodeKind::number ? whole_number(second.text) : std::nullopt;
      made.component = component(whole.value_or(-1), second.begin, *variable);
    }
    const auto found = std::find(statistics.begin(), statistics.end(), made);
    const auto number = static_cast<std::size_t>(found - statistics.begin());
    if (found == statistics.end()) statistics.push_back(made);
    return {.kind = ConditionStep::Kind::statistic, .first = number};
  }

  [[nodiscard]] std::int32_t component(std::int64_t number, std::size_t at, const Variable& variable) const {
    if (number >= 0 && number < variable.components) return static_cast<std::int32_t>(number);
    fail_at(text_.place(at), "found '{}' for {}, expected a component of '{}', 0 to {}; write one",
            text_.text.substr(at), text_.what, variable.name, variable.components - 1);
  }

  [[noreturn]] void unknown_word(const SyntaxNode& node) const {
    const std::string word(node.text);
    if (!node.quoted && (number_in(statistic_names, word) || number_in(function_names, word))) not_understood(node.at);
    std::vector<std::string> known{"previous", "change", "abs", "and", "or", "not"};
    known.insert(known.end(), statistic_names.begin(), statistic_names.end());
    known.insert(known.end(), time_names.begin(), time_names.end());
    if (metadata_.find_variable(word) != nullptr) {
      fail_at(text_.place(node.begin),
              "found only the variable '{}' for {}, expected a statistic of it; write max({}), min({}), mean({}) "
              "or sum({})",
              word, text_.what, word, word, word, word);
    }
    fail_at(text_.place(node.begin), "found '{}' for {}, expected one of {}; {}", word, text_.what, listed(known),
            suggestion(word, known, "correct or remove it"));
  }

  [[noreturn]] void not_understood(std::size_t position) const {
    text_.wrong(position, fmt::format("{}; expected {}", text_.unreadable(position), expected_condition));
  }

  const ExpressionText& text_;
  const ExpressionContext& context_;
  const Metadata& metadata_;
  SyntaxTree tree_{};
  std::vector<ConditionStep> steps_{};
};

double compute(Operator sign, double a, double b) {
  switch (sign) {
    case Operator::either:
      return static_cast<double>(a != 0 || b != 0);
    case Operator::both:
      return static_cast<double>(a != 0 && b != 0);
    case Operator::less:
      return static_cast<double>(a < b);
    case Operator::less_equal:
      return static_cast<double>(a <= b);
    case Operator::greater:
      return static_cast<double>(a > b);
    case Operator::greater_equal:
      return static_cast<double>(a >= b);
    case Operator::equal:
      return static_cast<double>(a == b);
    case Operator::unequal:
      return static_cast<double>(a < b || a > b);  // false if a side is unknown (NaN)
    case Operator::add:
      return a + b;
    case Operator::subtract:
      return a - b;
    case Operator::multiply:
      return a * b;
    default:
      return a / b;
  }
}

double compute_unary(Operator sign, double of) {
  if (sign == Operator::plus) return of;
  return sign == Operator::negation ? static_cast<double>(of == 0) : 0 - of;
}

/// The value of a step in an iteration. `values` has the values of the steps before it.
double compute(const ConditionStep& step, const Facts& facts, const std::vector<double>& values) {
  using StepKind = ConditionStep::Kind;
  switch (step.kind) {
    case StepKind::constant:
      return step.number;
    case StepKind::iteration:
      return static_cast<double>(facts.iteration.index);
    case StepKind::cycle:
      return static_cast<double>(facts.iteration.cycle);
    case StepKind::time:
      return facts.iteration.time;
    case StepKind::statistic:
      return facts.statistics[step.first];
    case StepKind::unary:
      return compute_unary(step.sign, values[step.first]);
    case StepKind::absolute:
      return std::fabs(values[step.first]);
    default:
      return compute(step.sign, values[step.first], values[step.second]);
  }
}

}  // namespace

Condition::Condition(const std::string& text, const ExpressionContext& context, const Metadata& metadata,
                     const std::string& what, const Location& where)
    : text_(text) {
  const ExpressionText whole{text, what, where};
  ConditionBuilder builder(whole, context, metadata);
  steps_ = std::make_shared<const std::vector<Step>>(builder.run());
  statistics_ = std::make_shared<const std::vector<Statistic>>(std::move(builder.statistics));
}

const std::vector<Statistic>& Condition::statistics() const noexcept { return *statistics_; }

bool Condition::holds(const Facts& now, const Facts* before) const {
  std::vector<double> values, earlier;  // by step; `earlier` in the iteration before
  for (const Step& step : *steps_) {
    const bool back = step.kind == Step::Kind::previous || step.kind == Step::Kind::change;
    const double then = back && before != nullptr ? earlier[step.first] : unknown;
    const double value = step.kind == Step::Kind::previous ? then
                         : back                            ? values[step.first] - then
                                                           : compute(step, now, values);
    values.push_back(value);
    // Steps that look back are not needed there.
    earlier.push_back(before == nullptr || step.looks_back ? unknown : compute(step, *before, earlier));
  }
  return values.back() != 0;
}

}  // namespace sidestream
