// Formula::evaluate computes each step on a block of numbers that fits in the cache, so that the compiler can vectorise
// it. Results have the same bits as one number at a time.
#include <algorithm>
#include <cmath>
#include <functional>

#include "base/expressions/formula.hpp"

namespace sidestream {

namespace {

using StepKind = FormulaStep::Kind;

constexpr std::size_t block = 256;

/// Tells the compiler that the iterations of a loop are independent. A result may be the array of an operand: each
/// element is read before it is written.
#if defined(__clang__)
#define SIDESTREAM_EACH_BY_ITSELF _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define SIDESTREAM_EACH_BY_ITSELF _Pragma("GCC ivdep")
#else
#define SIDESTREAM_EACH_BY_ITSELF
#endif

using Operands = const double* const*;

template <class Operation>
void each(Operands operands, std::size_t count, double* result, Operation operation) {
  const double* const a = operands[0];
  SIDESTREAM_EACH_BY_ITSELF
  for (std::size_t i = 0; i < count; ++i) result[i] = operation(a[i]);
}

template <class Operation>
void each_two(Operands operands, std::size_t count, double* result, Operation operation) {
  const double* const a = operands[0];
  const double* const b = operands[1];
  SIDESTREAM_EACH_BY_ITSELF
  for (std::size_t i = 0; i < count; ++i) result[i] = operation(a[i], b[i]);
}

/// Stores 1 or 0.
template <class Comparison>
void compare(Operands operands, std::size_t count, double* result, Comparison comparison) {
  each_two(operands, count, result, [&](double a, double b) { return comparison(a, b) ? 1.0 : 0.0; });
}

void compute_binary(Operator sign, Operands operands, std::size_t n, double* out) {
  switch (sign) {
    case Operator::either:
      return compare(operands, n, out, [](double a, double b) { return a != 0 || b != 0; });
    case Operator::both:
      return compare(operands, n, out, [](double a, double b) { return a != 0 && b != 0; });
    case Operator::less:
      return compare(operands, n, out, std::less<>());
    case Operator::less_equal:
      return compare(operands, n, out, std::less_equal<>());
    case Operator::greater:
      return compare(operands, n, out, std::greater<>());
    case Operator::greater_equal:
      return compare(operands, n, out, std::greater_equal<>());
    case Operator::equal:
      return compare(operands, n, out, std::equal_to<>());
    case Operator::unequal:
      return compare(operands, n, out, std::not_equal_to<>());
    case Operator::add:
      return each_two(operands, n, out, std::plus<>());
    case Operator::subtract:
      return each_two(operands, n, out, std::minus<>());
    case Operator::multiply:
      return each_two(operands, n, out, std::multiplies<>());
    case Operator::divide:
      return each_two(operands, n, out, std::divides<>());
    default:
      return each_two(operands, n, out, [](double a, double b) { return std::pow(a, b); });
  }
}

void compute_fold(const FormulaStep& step, Operands operands, std::size_t n, double* out) {
  using Fold = NumberFunction::Fold;
  const Fold fold = step.function->fold;
  const bool sums = fold == Fold::sum || fold == Fold::mean;
  for (std::size_t i = 0; i < n; ++i) {
    double value = sums ? 0 : operands[0][i];
    for (std::size_t k = 0; k < step.count; ++k) {
      const double next = operands[k][i];
      value = sums ? value + next : fold == Fold::least ? std::min(value, next) : std::max(value, next);
    }
    out[i] = fold == Fold::mean ? value / static_cast<double>(step.count) : value;
  }
}

void compute_function(const FormulaStep& step, Operands operands, std::size_t n, double* out) {
  const NumberFunction& function = *step.function;
  if (function.of_two != nullptr) return each_two(operands, n, out, function.of_two);
  if (function.of_one == nullptr) return compute_fold(step, operands, n, out);
  // The compiler vectorises these two, since it sees their operations.
  if (function.name == "sqrt") return each(operands, n, out, [](double v) { return std::sqrt(v); });
  if (function.name == "abs") return each(operands, n, out, [](double v) { return v >= 0 ? v : -v; });
  each(operands, n, out, function.of_one);
}

void compute_choice(Operands operands, std::size_t n, double* out) {
  const double* const condition = operands[0];
  const double* const yes = operands[1];
  const double* const no = operands[2];
  SIDESTREAM_EACH_BY_ITSELF
  for (std::size_t i = 0; i < n; ++i) {
    const double chosen = yes[i], other = no[i];
    out[i] = condition[i] != 0 ? chosen : other;
  }
}

/// Computes one step. If it reads an argument, `operands` has only that one.
void compute(const FormulaStep& step, Operands operands, std::size_t n, double* out) {
  switch (step.kind) {
    case StepKind::linear:
      return each(operands, n, out, [a = step.factor, b = step.offset](double v) { return v * a + b; });
    case StepKind::square:
      return each(operands, n, out, [](double v) { return v * v; });
    case StepKind::cube:
      return each(operands, n, out, [](double v) { return v * v * v; });
    case StepKind::fourth_power:
      return each(operands, n, out, [](double v) { return v * v * v * v; });
    case StepKind::unary:
      if (step.sign == Operator::negation) return each(operands, n, out, [](double v) { return v == 0 ? 1.0 : 0.0; });
      return each(operands, n, out, std::negate<>());
    case StepKind::binary:
      return compute_binary(step.sign, operands, n, out);
    case StepKind::function:
      return compute_function(step, operands, n, out);
    default:
      return compute_choice(operands, n, out);
  }
}

/// The largest number of values on the stack.
std::size_t depth_of(const std::vector<FormulaStep>& steps) {
  std::size_t depth = 0, most = 0;
  for (const FormulaStep& step : steps) {
    depth = depth + 1 - step.operands();
    most = std::max(most, depth);
  }
  return most;
}

/// Stores a block of each constant after the `depth` blocks of the stack.
void fill_constants(const std::vector<FormulaStep>& steps, std::size_t depth, std::size_t count,
                    std::vector<double>& numbers) {
  numbers.resize(std::max(numbers.size(), depth * block));
  std::size_t next = depth * block;
  for (const FormulaStep& step : steps) {
    if (step.kind != StepKind::constant) continue;
    numbers.resize(std::max(numbers.size(), next + block));
    std::fill_n(numbers.begin() + static_cast<std::ptrdiff_t>(next), count, step.factor);
    next += block;
  }
}

}  // namespace

void Formula::evaluate(std::span<const double* const> arguments, std::int64_t count, double* out,
                       Scratch& scratch) const {
  const auto all = static_cast<std::size_t>(count);
  const std::size_t depth = depth_of(steps_);
  fill_constants(steps_, depth, std::min(block, all), scratch.numbers);
  scratch.operands.resize(depth);
  const double** const stack = scratch.operands.data();
  for (std::size_t begin = 0; begin < all; begin += block) {
    const std::size_t n = std::min(block, all - begin);
    const double* constant = scratch.numbers.data() + depth * block;
    std::size_t top = 0;
    for (const FormulaStep& step : steps_) {
      if (step.kind == StepKind::constant) {
        stack[top++] = constant;
        constant += block;
        continue;
      }
      if (step.kind == StepKind::argument) {
        stack[top++] = arguments[step.index] + begin;
        continue;
      }
      top -= step.operands();
      // The result takes the place of the lowest operand; the last result, which is the lowest of all, goes to `out`.
      double* const result = top == 0 ? out + begin : scratch.numbers.data() + top * block;
      if (step.operands() == 0) stack[top] = arguments[step.index] + begin;
      compute(step, stack + top, n, result);
      stack[top++] = result;
    }
    if (stack[0] != out + begin) std::copy_n(stack[0], n, out + begin);
  }
}

}  // namespace sidestream
