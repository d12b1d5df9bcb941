#include "base/expressions/formula.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace sidestream {

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
