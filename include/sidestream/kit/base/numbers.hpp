// Parsing of numbers, independent of the program's locale and rounding mode.
#pragma once

#include <charconv>
#include <concepts>
#include <limits>
#include <optional>
#include <string_view>

#include "sidestream/kit/base/float_environment.hpp"

namespace sidestream {

/// Removes the real number at the beginning of `text` and returns it. If there is none, returns nothing and leaves
/// `text` unchanged. The number may have a leading `+`. It becomes infinite if it is too large, and 0 if it is too
/// small.
[[nodiscard]] inline std::optional<double> take_real(std::string_view& text) {
  const FloatEnvironment environment;
  std::string_view rest = text;
  if (rest.starts_with('+')) rest.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error == std::errc::invalid_argument) return std::nullopt;
  const std::string_view digits = rest.substr(0, static_cast<std::size_t>(end - rest.data()));
  if (error == std::errc::result_out_of_range) {
    const bool small = digits.find("e-") != digits.npos || digits.find("E-") != digits.npos;
    value = small ? 0 : std::numeric_limits<double>::infinity();
    if (digits.starts_with('-')) value = -value;
  }
  text = rest.substr(digits.size());
  return value;
}

/// The real number that is the whole `text`, without blanks; nothing if the text is no number.
[[nodiscard]] inline std::optional<double> real_of(std::string_view text) {
  const std::optional<double> value = take_real(text);
  return text.empty() ? value : std::nullopt;
}

/// The integer that is the whole `text`; nothing if the text is no integer, or if it does not fit the type Integer.
template <std::integral Integer>
[[nodiscard]] std::optional<Integer> whole_of(std::string_view text, int base = 10) {
  Integer value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value, base);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

}  // namespace sidestream
