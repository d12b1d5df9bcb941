// Formulas of numbers as steps for a stack, simplified while they are built.
//
// Operators on constants are computed at once. Sums and products of one argument with constants become one step, factor
// * x + offset; small powers become products. Each simplification keeps the results of earlier versions to the bit.
// Evaluation is in evaluate_formula.cpp.
#include "base/expressions/formula.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace sidestream {

namespace {

using StepKind = FormulaStep::Kind;

bool has_argument(const FormulaStep& step) { return step.kind == StepKind::argument || step.kind == StepKind::linear; }

bool reads_argument(const FormulaStep& step) {
  return step.kind >= StepKind::argument && step.kind <= StepKind::fourth_power;
}

/// The step as a linear one: a constant is an offset, an argument has the factor 1. Sums and products of them are then
/// linear, too.
FormulaStep as_linear(const FormulaStep& step) {
  FormulaStep made = step;
  made.kind = StepKind::linear;
  if (step.kind == StepKind::constant) {
    made.factor = 0;
    made.offset = step.factor;
  } else if (step.kind == StepKind::argument) {
    made.factor = 1;
    made.offset = 0;
  }
  return made;
}

}  // namespace

std::size_t FormulaStep::operands() const noexcept {
  switch (kind) {
    case StepKind::unary:
      return 1;
    case StepKind::binary:
      return 2;
    case StepKind::function:
      return count;
    case StepKind::choice:
      return 3;
    default:
      return 0;
  }
}

Formula Formula::of_constant(double value) {
  Formula made;
  made.steps_.push_back({.kind = StepKind::constant, .factor = value});
  return made;
}

Formula Formula::of_argument(std::size_t index) {
  Formula made;
  made.steps_.push_back({.kind = StepKind::argument, .index = index});
  return made;
}

void Formula::append(const Formula& other, std::span<const std::size_t> arguments) {
  for (const FormulaStep& step : other.steps_) {
    FormulaStep& made = steps_.emplace_back(step);
    if (reads_argument(step)) made.index = arguments[step.index];
  }
}

void Formula::apply_unary(Operator sign) {
  if (sign == Operator::plus) return;
  const FormulaStep step{.kind = StepKind::unary, .sign = sign};
  if (!fold(1, step)) steps_.push_back(step);
}

void Formula::apply_binary(Operator sign) {
  const FormulaStep step{.kind = StepKind::binary, .sign = sign};
  if (!fold(2, step) && !simplify(sign)) steps_.push_back(step);
}

void Formula::apply(const NumberFunction& function, std::size_t count) {
  const FormulaStep step{.kind = StepKind::function, .count = count, .function = &function};
  if (function.fold != NumberFunction::Fold::none || !fold(count, step)) steps_.push_back(step);
}

void Formula::choose() { steps_.push_back({.kind = StepKind::choice}); }

/// Computes a step whose operands are constants.
bool Formula::fold(std::size_t operands, const FormulaStep& step) {
  const auto first = steps_.end() - static_cast<std::ptrdiff_t>(operands);
  if (!std::all_of(first, steps_.end(), [](const FormulaStep& one) { return one.kind == StepKind::constant; })) {
    return false;
  }
  Formula constant;
  constant.steps_.assign(first, steps_.end());
  constant.steps_.push_back(step);
  double value = 0;
  Scratch scratch;
  constant.evaluate({}, 1, &value, scratch);
  steps_.erase(first, steps_.end());
  steps_.push_back({.kind = StepKind::constant, .factor = value});
  return true;
}

/// Simplifies an operator whose operands are one step each: the right one is the last step, the left one the step
/// before it. Longer operands end with steps of other kinds.
bool Formula::simplify(Operator sign) {
  switch (sign) {
    case Operator::add:
      return simplify_sum(false);
    case Operator::subtract:
      return simplify_sum(true);
    case Operator::multiply:
      return simplify_product();
    case Operator::divide:
      return simplify_quotient();
    case Operator::power:
      return simplify_power();
    default:
      return false;
  }
}

bool Formula::simplify_sum(bool subtract) {
  const FormulaStep right = as_linear(steps_.back());
  FormulaStep& left = steps_[steps_.size() - 2];
  const bool fits = (left.kind == StepKind::constant && has_argument(steps_.back())) ||
                    (has_argument(left) && steps_.back().kind == StepKind::constant);
  if (!fits) return false;
  const std::size_t index = left.kind == StepKind::constant ? right.index : left.index;
  left = as_linear(left);
  left.index = index;
  left.offset += (subtract ? -1 : 1) * right.offset;
  left.factor += (subtract ? -1 : 1) * right.factor;
  steps_.pop_back();
  return true;
}

bool Formula::simplify_product() {
  FormulaStep constant = steps_.back(), other = steps_[steps_.size() - 2];
  if (constant.kind != StepKind::constant) std::swap(constant, other);
  if (constant.kind != StepKind::constant || !has_argument(other)) return false;
  const bool plain = other.kind == StepKind::argument;
  FormulaStep made = as_linear(other);
  made.factor = plain ? constant.factor + 0.0 : made.factor * constant.factor;  // the zero has no sign
  made.offset = plain ? 0 : made.offset * constant.factor;
  steps_.pop_back();
  steps_.back() = made;
  return true;
}

bool Formula::simplify_quotient() {
  const FormulaStep& right = steps_.back();
  FormulaStep& left = steps_[steps_.size() - 2];
  if (right.kind != StepKind::constant || right.factor == 0 || left.kind != StepKind::linear) return false;
  left.factor /= right.factor;
  left.offset /= right.factor;
  steps_.pop_back();
  return true;
}

bool Formula::simplify_power() {
  const FormulaStep& exponent = steps_.back();
  FormulaStep& base = steps_[steps_.size() - 2];
  if (exponent.kind != StepKind::constant || base.kind != StepKind::argument) return false;
  if (exponent.factor == 0) {
    base = {.kind = StepKind::constant, .factor = 1};
  } else if (exponent.factor == 2) {
    base.kind = StepKind::square;
  } else if (exponent.factor == 3) {
    base.kind = StepKind::cube;
  } else if (exponent.factor == 4) {
    base.kind = StepKind::fourth_power;
  } else if (exponent.factor != 1) {
    return false;
  }
  steps_.pop_back();
  return true;
}

namespace {

// Some replace functions of the C library, so that results of earlier versions stay the same to the bit.
double absolute(double v) { return v >= 0 ? v : -v; }
double inverse_hyperbolic_cosine(double v) { return std::log(v + std::sqrt(v * v - 1)); }
double inverse_hyperbolic_sine(double v) { return std::log(v + std::sqrt(v * v + 1)); }
double inverse_hyperbolic_tangent(double v) { return 0.5 * std::log((1 + v) / (1 - v)); }
double binary_logarithm(double v) { return std::log(v) / std::log(2.0); }
double nearest(double v) { return std::floor(v + 0.5); }
double sign_of(double v) { return v < 0 ? -1 : v > 0 ? 1 : 0; }

using Fold = NumberFunction::Fold;

constexpr std::array<NumberFunction, 26> functions{{
    {"abs", absolute},
    {"acos", std::acos},
    {"acosh", inverse_hyperbolic_cosine},
    {"asin", std::asin},
    {"asinh", inverse_hyperbolic_sine},
    {"atan", std::atan},
    {"atan2", nullptr, std::atan2},
    {"atanh", inverse_hyperbolic_tangent},
    {"avg", nullptr, nullptr, Fold::mean},
    {"cos", std::cos},
    {"cosh", std::cosh},
    {"exp", std::exp},
    {"ln", std::log},
    {"log", std::log},
    {"log10", std::log10},
    {"log2", binary_logarithm},
    {"max", nullptr, nullptr, Fold::greatest},
    {"min", nullptr, nullptr, Fold::least},
    {"rint", nearest},
    {"sign", sign_of},
    {"sin", std::sin},
    {"sinh", std::sinh},
    {"sqrt", std::sqrt},
    {"sum", nullptr, nullptr, Fold::sum},
    {"tan", std::tan},
    {"tanh", std::tanh},
}};

}  // namespace

std::span<const NumberFunction> number_functions() noexcept { return functions; }

const NumberFunction* find_number_function(std::string_view name) noexcept {
  const auto* const found =
      std::find_if(functions.begin(), functions.end(), [&](const NumberFunction& one) { return one.name == name; });
  return found == functions.end() ? nullptr : found;
}

std::vector<std::string> number_function_names() {
  std::vector<std::string> names;
  for (const NumberFunction& one : functions) names.emplace_back(one.name);
  return names;
}

}  // namespace sidestream
