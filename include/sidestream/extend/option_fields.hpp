// Fields that options can fill: the kinds of values that a C++ type holds, and how they are read.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sidestream/extend/options.hpp"

namespace sidestream {

/// A default as it would be written in the file, given as a text, a number or a flag.
struct OptionDefault {
  OptionDefault() = default;
  OptionDefault(const char* written) : text(written) {}
  OptionDefault(std::string written) : text(std::move(written)) {}
  OptionDefault(bool flag) : text(flag ? "true" : "false") {}
  template <std::integral T>
  OptionDefault(T number) : text(std::to_string(number)) {}
  /// The shortest text that is read as the same number.
  OptionDefault(double number);
  std::string text{};
};

/// The values that a field holds: exactly one, at most one (std::optional), or a list (std::vector, or std::array for a
/// list of fixed length).
template <class Field>
struct OptionValues {
  using Value = Field;
  static constexpr bool list = false;
  static constexpr int entries = -1;
};
template <class Field>
struct OptionValues<std::optional<Field>> : OptionValues<Field> {};
template <class T>
struct OptionValues<std::vector<T>> {
  using Value = T;
  static constexpr bool list = true;
  static constexpr int entries = -1;
};
template <class T, std::size_t count>
struct OptionValues<std::array<T, count>> {
  using Value = T;
  static constexpr bool list = true;
  static constexpr int entries = static_cast<int>(count);
};
template <class Field>
using OptionValue = typename OptionValues<Field>::Value;

using OptionPairs = std::map<std::string, std::string>;
using OneOfOptions = std::pair<std::string, Settings>;  ///< the key, and the content

/// True for a struct that a table of its own fills.
template <class Value>
constexpr bool is_nested_option =
    std::is_class_v<Value> && !std::same_as<Value, std::string> && !std::same_as<Value, Variable> &&
    !std::same_as<Value, Settings> && !std::same_as<Value, OptionPairs> && !std::same_as<Value, OneOfOptions>;

/// The type of an option with values of this C++ type, if the declaration names none.
template <class Value>
constexpr OptionType natural_type() noexcept {
  if constexpr (std::same_as<Value, bool>) return OptionType::boolean;
  if constexpr (std::integral<Value> && !std::same_as<Value, bool>) return OptionType::integer;
  if constexpr (std::floating_point<Value>) return OptionType::real;
  if constexpr (std::is_enum_v<Value>) return OptionType::choice;
  if constexpr (std::same_as<Value, Variable>) return OptionType::variable;
  if constexpr (std::same_as<Value, OptionPairs>) return OptionType::pairs;
  if constexpr (std::same_as<Value, OneOfOptions>) return OptionType::one_of;
  return std::is_class_v<Value> && !std::same_as<Value, std::string> ? OptionType::map : OptionType::text;
}

/// True if values of an option of this type fit into this C++ type.
template <class Value>
constexpr bool holds_option(OptionType type) noexcept {
  switch (type) {
    case OptionType::boolean:
      return std::same_as<Value, bool>;
    case OptionType::integer:
    case OptionType::bytes:
      return std::integral<Value> && !std::same_as<Value, bool>;
    case OptionType::real:
      return std::same_as<Value, double>;
    case OptionType::choice:
      return std::same_as<Value, std::string> || std::is_enum_v<Value> || std::is_arithmetic_v<Value>;
    case OptionType::variable:
      return std::same_as<Value, std::string> || std::same_as<Value, Variable>;
    case OptionType::map:
      return std::same_as<Value, Settings> || is_nested_option<Value>;
    case OptionType::pairs:
      return std::same_as<Value, OptionPairs>;
    case OptionType::one_of:
      return std::same_as<Value, OneOfOptions>;
    default:
      return std::same_as<Value, std::string>;
  }
}

/// A field that an option of this type can fill. There are no lists of flags and of pairs.
template <class Field, OptionType type>
concept HoldsOption = holds_option<OptionValue<Field>>(type) &&
    !(OptionValues<Field>::list && (type == OptionType::boolean || type == OptionType::pairs));

/// Choices: texts, or texts and the values that they stand for.
template <class Value, OptionType type>
using OptionChoices = std::conditional_t<type == OptionType::choice && !std::same_as<Value, std::string>,
                                         std::vector<std::pair<std::string, Value>>, std::vector<std::string>>;

[[nodiscard]] inline std::vector<std::string> names_of_choices(const std::vector<std::string>& choices) {
  return choices;
}
template <class Value>
[[nodiscard]] std::vector<std::string> names_of_choices(const std::vector<std::pair<std::string, Value>>& choices) {
  std::vector<std::string> names;
  for (const auto& choice : choices) names.push_back(choice.first);
  return names;
}

/// The variable of an option's text. Throws Error(configuration) with the option's location if there is none.
[[nodiscard]] const Variable& variable_named(const Settings& settings, const std::string& option,
                                             const std::string& name, const Metadata& metadata);

/// Throws Error(internal): a table has no option for a requested field, or no value for a choice.
[[noreturn]] void fail_unbound(const std::string& what);

}  // namespace sidestream
