// The functions of numbers that expressions may have.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sidestream {

struct NumberFunction {
  /// How those of any number of arguments combine them, from the first to the last.
  enum class Fold { none, sum, mean, least, greatest };
  std::string_view name;
  double (*of_one)(double) = nullptr;
  double (*of_two)(double, double) = nullptr;
  Fold fold = Fold::none;
  /// Number of arguments; 0: one or more.
  [[nodiscard]] std::size_t arguments() const noexcept { return of_one != nullptr ? 1 : of_two != nullptr ? 2 : 0; }
};

/// All of them, by name.
[[nodiscard]] std::span<const NumberFunction> number_functions() noexcept;

/// Null if there is none.
[[nodiscard]] const NumberFunction* find_number_function(std::string_view name) noexcept;

/// Their names, sorted.
[[nodiscard]] std::vector<std::string> number_function_names();

}  // namespace sidestream
