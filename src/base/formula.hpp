// Formulas of numbers, `0.5*a*b^2`: parsed and evaluated by muParser, if the build has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sidestream {

/// An error in a formula.
class FormulaError : public std::runtime_error {
 public:
  FormulaError(const std::string& what, std::size_t position) : std::runtime_error(what), position_(position) {}
  /// Offset of the character that cannot be read; the text's length if it ends too early.
  [[nodiscard]] std::size_t position() const noexcept { return position_; }

 private:
  std::size_t position_;
};

/// The reason why there are no formulas in this build; empty if there are.
[[nodiscard]] std::string why_no_formulas();

/// The functions that formulas may use, sorted.
[[nodiscard]] std::vector<std::string> formula_functions();

/// A checked formula. Each number is computed independently, by the same operations in the same order; its position
/// among the others has no influence. Not for several threads at once.
class Formula {
 public:
  using Constants = std::vector<std::pair<std::string, double>>;
  /// `names` are the variables, which change from number to number. Throws FormulaError.
  Formula(const std::string& text, const std::vector<std::string>& names, const Constants& constants);
  Formula(Formula&& other) noexcept;
  Formula& operator=(Formula&& other) noexcept;
  ~Formula();

  /// Computes out[i] from values[n][i], n counting `names`, for i below `count`. Throws Error if that fails.
  void evaluate(std::span<const double* const> values, std::int64_t count, double* out);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace sidestream
