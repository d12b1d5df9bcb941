// The functions of numbers that expressions may use.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sidestream {

/// A function of one or two numbers, or of any number of them.
struct NumberFunction {
  /// The rule by which functions of any number of arguments combine them, from the first to the last.
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

}  // namespace sidestream
