// Arithmetic on arrays of numbers, `0.5 * a * b^2`, without names and texts: a list of steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/expressions/parse.hpp"

namespace sidestream {

// The functions of numbers that expressions may use.

/// A function of one or two numbers, or of any number of them.
struct NumberFunction {
  /// The way that functions of any number of arguments combine them, from the first to the last.
  enum class Fold { none, sum, mean, least, greatest };
  std::string_view name;
  double (*of_one)(double) = nullptr;
  double (*of_two)(double, double) = nullptr;
  Fold fold = Fold::none;
  /// Number of arguments; 0: one or more.
  [[nodiscard]] std::size_t arguments() const noexcept { return of_one != nullptr ? 1 : of_two != nullptr ? 2 : 0; }
};

/// All functions, sorted by name.
[[nodiscard]] std::span<const NumberFunction> number_functions() noexcept;

/// Finds a function. Returns null if there is none.
[[nodiscard]] const NumberFunction* find_number_function(std::string_view name) noexcept;

/// The names of all functions, sorted.
[[nodiscard]] std::vector<std::string> number_function_names();

// Formulas.

/// One step of a formula. It takes its operands from the top of a stack, and leaves its value there.
struct FormulaStep {
  enum class Kind {
    constant,  ///< `factor`
    argument,  ///< number `index`
    linear,    ///< argument * factor + offset
    square,    ///< square of the argument
    cube,
    fourth_power,
    unary,     ///< `sign` applied to one operand
    binary,    ///< `sign` applied to two operands
    function,  ///< `function` of `count` operands
    choice     ///< the second of three operands if the first is not 0, otherwise the third
  };
  Kind kind = Kind::constant;
  Operator sign = Operator::add;
  std::size_t index = 0;
  std::size_t count = 0;
  double factor = 0, offset = 0;
  const NumberFunction* function = nullptr;

  [[nodiscard]] std::size_t operands() const noexcept;
};

/// A formula as a list of steps. Each number is computed independently, by the same operations in the same order; its
/// position among the others has no influence. Comparisons and logical operators give 1 or 0; every number but 0 is
/// true, also NaN.
///
/// Steps are simplified as they are added, by rules that belong to the results, since they decide about rounding:
/// operations on constants are done once; a constant times an argument plus a constant is one `linear` step, and a
/// constant that follows changes its factor and offset; squares to fourth powers of an argument are products.
class Formula {
 public:
  /// Memory that is kept between evaluations.
  struct Scratch {
    std::vector<double> numbers{};
    std::vector<const double*> operands{};
  };

  [[nodiscard]] static Formula of_constant(double value);
  [[nodiscard]] static Formula of_argument(std::size_t index);

  /// Appends the steps of `other`. Its argument n becomes argument number `arguments[n]`.
  void append(const Formula& other, std::span<const std::size_t> arguments);
  void apply_unary(Operator sign);
  void apply_binary(Operator sign);
  void apply(const NumberFunction& function, std::size_t count);
  void choose();

  [[nodiscard]] const std::vector<FormulaStep>& steps() const noexcept { return steps_; }
  /// Computes out[i] from arguments[n][i], for i below `count`. `out` must not be one of the arguments.
  void evaluate(std::span<const double* const> arguments, std::int64_t count, double* out, Scratch& scratch) const;

 private:
  bool fold(std::size_t operands, const FormulaStep& step);
  bool simplify(Operator sign);
  bool simplify_sum(bool subtract);
  bool simplify_product();
  bool simplify_quotient();
  bool simplify_power();

  std::vector<FormulaStep> steps_{};
};

}  // namespace sidestream
