// Conditions (`when`) as a list of steps, one for each node of the syntax tree; operands stand before what uses them.
//
// 1. ConditionBuilder translates the tree, checks that conditions and numbers are not mixed, and collects the
//    statistics that must be computed.
// 2. ConditionValues runs the steps in order on the facts of an iteration. `previous`, `change` and `rate` run them on
//    earlier facts too, at most `depth` iterations back; they cannot be nested.
// 3. A number that is not known yet is NaN, and comparisons with it do not hold.
#include "config/expressions/condition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string_view>

#include "config/expressions/expression.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {

/// A part of a condition: a number, or, if it is `logical`, 0 or 1. Operands stand before it.
struct Condition::Step {
  enum class Kind {
    constant,
    iteration,
    cycle,
    time,
    statistic,
    unary,
    binary,
    absolute,
    root,
    previous,
    change,
    rate
  };
  Kind kind = Kind::constant;
  Operator sign = Operator::add;
  std::size_t first = 0, second = 0;  ///< operands; for a statistic: its number
  std::size_t back = 0;               ///< number of iterations that it looks back
  double number = 0;
  bool logical = false;
  bool looks_back = false;
};

namespace {

using ConditionStep = Condition::Step;
using NodeKind = SyntaxNode::Kind;
using What = Statistic::What;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<std::string_view, 10> statistic_names{"min",      "max",      "mean",    "sum",    "nan",
                                                           "infinite", "quantile", "entropy", "at_max", "at_min"};
constexpr std::array<std::string_view, 3> time_names{"iteration", "cycle", "time"};
constexpr std::array<std::string_view, 5> function_names{"previous", "change", "rate", "abs", "sqrt"};
constexpr std::array<std::string_view, 3> place_axes{"x", "y", "z"};
constexpr const char* expected_condition = "a condition such as 'max(temperature) > 500 and cycle > 10'";

template <std::size_t count>
std::optional<std::size_t> number_in(const std::array<std::string_view, count>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

bool is_place(What what) { return what == What::at_max || what == What::at_min; }

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
    for (const SyntaxNode& node : tree_) {
      const std::optional<std::size_t> what =
          node.kind == NodeKind::call ? number_in(statistic_names, node.text) : std::nullopt;
      if (what && is_place(static_cast<What>(*what)) && node.children.size() == 2) axes_.insert(node.children[1]);
    }
    for (std::size_t n = 0; n < tree_.size(); ++n) {
      steps_.push_back(axes_.count(n) > 0 ? ConditionStep{} : step_of(tree_[n]));
    }
    if (!steps_.back().logical) {
      text_.wrong(0, fmt::format("which is a number and no condition; compare it, as in '{} > 1'", text_.text));
    }
    return std::move(steps_);
  }
  std::vector<Statistic> statistics{};
  std::size_t depth = 0;

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
      return statistic(node, static_cast<What>(*what));
    }
    const std::size_t function = *number_in(function_names, node.text);
    constexpr std::array kinds{ConditionStep::Kind::previous, ConditionStep::Kind::change, ConditionStep::Kind::rate,
                               ConditionStep::Kind::absolute, ConditionStep::Kind::root};
    const bool looks_back = function < 3;
    if (node.children.empty() || node.children.size() > (looks_back ? 2 : 1)) {
      not_understood(node.children.empty() ? node.at : node.end);
    }
    check(node, node.children[0], false);
    ConditionStep made = joined(kinds[function], node, node.children[0], node.children[0], false);
    if (!looks_back) return made;
    if (made.looks_back) {
      text_.wrong(node.begin,
                  "which looks back from an earlier iteration; write 'previous', 'change' and 'rate' around what does "
                  "not contain them, and how far they look back behind it, as in 'previous(x, 2)'");
    }
    made.looks_back = true;
    made.back = node.children.size() == 1 ? 1 : iterations_back(tree_[node.children[1]], node.children[1]);
    depth = std::max(depth, made.back);
    return made;
  }

  [[nodiscard]] std::size_t iterations_back(const SyntaxNode& node, std::size_t number) const {
    const double given = steps_[number].number;
    const bool is_constant = node.kind == NodeKind::number || node.kind == NodeKind::parameter;
    if (is_constant && given >= 1 && given <= static_cast<double>(Condition::deepest) && given == std::floor(given)) {
      return static_cast<std::size_t>(given);
    }
    fail_at(text_.place(node.begin),
            "found '{}' for {}, expected a whole number of iterations to look back, 1 to {}; write one",
            text_.text.substr(node.begin, node.end - node.begin), text_.what, Condition::deepest);
  }

  /// The second argument of a statistic that has a parameter.
  [[nodiscard]] double parameter(const SyntaxNode& node, What what) const {
    const SyntaxNode& given = tree_[node.children[1]];
    if (is_place(what)) {
      const auto axis = given.kind == NodeKind::name ? number_in(place_axes, given.text) : std::nullopt;
      if (axis) return static_cast<double>(*axis);
      wrong_parameter(given, "an axis", "x, y or z", "at_max(temperature, x)");
    }
    const bool is_constant = given.kind == NodeKind::number || given.kind == NodeKind::parameter;
    const double value = is_constant ? steps_[node.children[1]].number : unknown;
    if (what == What::quantile) {
      if (value >= 0 && value <= 1) return value;
      wrong_parameter(given, "a share of the values", "0 to 1", "quantile(temperature, 0.99)");
    }
    if (value >= 1 && value <= most_entropy_bins && value == std::floor(value)) return value;
    wrong_parameter(given, "a whole number of intervals", fmt::format("1 to {}", most_entropy_bins),
                    "entropy(temperature, 256)");
  }

  [[noreturn]] void wrong_parameter(const SyntaxNode& given, const char* what, const std::string& range,
                                    const char* example) const {
    fail_at(text_.place(given.begin), "found '{}' for {}, expected {}, {}; write it as in '{}'",
            text_.text.substr(given.begin, given.end - given.begin), text_.what, what, range, example);
  }

  /// Positions of extremes are coordinates of meshes with axes.
  void check_axes(const Variable& variable, const SyntaxNode& node) const {
    const Mesh& mesh = metadata_.mesh_of(variable);
    if (mesh.axes() != nullptr || !mesh.geometry) return;
    fail_at(text_.place(node.begin),
            "found '{}' of the variable '{}' on the {} mesh '{}' for {}, expected a variable on a uniform or "
            "rectilinear mesh; remove it",
            node.text, variable.name, mesh.geometry->kind(), mesh.name, text_.what);
  }

  ConditionStep statistic(const SyntaxNode& node, What what) {
    if (node.children.empty() || node.children.size() > 2) not_understood(node.at);
    const bool has_parameter = what >= What::quantile;
    if (has_parameter && node.children.size() != 2) not_understood(node.end);
    const SyntaxNode& subject = tree_[node.children[0]];
    if (!subject.subject) not_understood(subject.kind == NodeKind::name ? subject.begin : subject.at);
    const bool chosen = subject.kind == NodeKind::component;
    const SyntaxNode& of = chosen ? tree_[subject.children[0]] : subject;
    if (of.kind != NodeKind::name || (chosen && !has_parameter && node.children.size() == 2)) not_understood(of.at);
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
    if (has_parameter) {
      made.parameter = parameter(node, what);
      if (is_place(what)) check_axes(*variable, node);
    } else if (node.children.size() == 2) {
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
    std::vector<std::string> known{"previous", "change", "rate", "abs", "sqrt", "and", "or", "not"};
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
  std::set<std::size_t> axes_{};  ///< nodes that name the axis of a position
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

/// Computes the steps of a condition for an iteration.
class ConditionValues {
 public:
  ConditionValues(std::span<const ConditionStep> steps, std::span<const Facts> facts) : steps_(steps), facts_(facts) {}

  /// The value of the last of the first `count` steps, `back` iterations ago.
  [[nodiscard]] double last(std::size_t count, std::size_t back) const {
    if (back >= facts_.size()) return unknown;
    std::vector<double> values;
    for (const ConditionStep& step : steps_.first(count)) {
      // Operands of steps that look back do not look back, so other steps are not needed there.
      values.push_back(back > 0 && step.looks_back ? unknown : value(step, facts_[back], values));
    }
    return values.back();
  }

 private:
  using StepKind = ConditionStep::Kind;

  /// `values`: of the steps before it.
  [[nodiscard]] double value(const ConditionStep& step, const Facts& facts, const std::vector<double>& values) const {
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
      case StepKind::root:
        return std::sqrt(values[step.first]);
      case StepKind::binary:
        return compute(step.sign, values[step.first], values[step.second]);
      default:
        return backward(step, values[step.first]);
    }
  }

  [[nodiscard]] double backward(const ConditionStep& step, double now) const {
    const double then = last(step.first + 1, step.back);
    if (step.kind == StepKind::previous) return then;
    if (step.kind == StepKind::change || step.back >= facts_.size()) return now - then;
    const double passed = facts_.front().iteration.time - facts_[step.back].iteration.time;
    return passed == 0 ? unknown : (now - then) / passed;
  }

  std::span<const ConditionStep> steps_;
  std::span<const Facts> facts_;
};

}  // namespace

Condition::Condition(const std::string& text, const ExpressionContext& context, const Metadata& metadata,
                     const std::string& what, const Location& where)
    : text_(text) {
  const ExpressionText whole{text, what, where};
  ConditionBuilder builder(whole, context, metadata);
  steps_ = std::make_shared<const std::vector<Step>>(builder.run());
  statistics_ = std::make_shared<const std::vector<Statistic>>(std::move(builder.statistics));
  depth_ = builder.depth;
}

const std::vector<Statistic>& Condition::statistics() const noexcept { return *statistics_; }

bool Condition::holds(std::span<const Facts> facts) const {
  return ConditionValues(*steps_, facts).last(steps_->size(), 0) != 0;
}

}  // namespace sidestream
