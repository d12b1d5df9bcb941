// Formulas of numbers, `0.5*a*b^2`: parsed and evaluated by muParser, where there is one.
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

/// What is wrong with a formula.
class FormulaError : public std::runtime_error {
 public:
  FormulaError(const std::string& what, std::size_t position) : std::runtime_error(what), position_(position) {}
  /// Of the character that can not be read; the text's length: it ends too early.
  [[nodiscard]] std::size_t position() const noexcept { return position_; }

 private:
  std::size_t position_;
};

/// Why there are no formulas in this build; empty if there are.
[[nodiscard]] std::string why_no_formulas();

/// The functions that may stand in formulas, sorted.
[[nodiscard]] std::vector<std::string> formula_functions();

/// A checked text. Each number is computed by itself from numbers alone, by the same operations in the same order:
/// where it stands among others does not count. Not for several threads at once.
class Formula {
 public:
  using Constants = std::vector<std::pair<std::string, double>>;
  /// `names`: of what changes from number to number. Throws FormulaError.
  Formula(const std::string& text, const std::vector<std::string>& names, const Constants& constants);
  Formula(Formula&& other) noexcept;
  Formula& operator=(Formula&& other) noexcept;
  ~Formula();

  /// out[i] from values[n][i], n counting `names`, for i below `count`. Throws Error if it can not be evaluated.
  void evaluate(std::span<const double* const> values, std::int64_t count, double* out);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace sidestream
