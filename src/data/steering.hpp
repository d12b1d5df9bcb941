// Parameters that the simulation reads while it runs, and changes of them.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace sidestream {

/// One entry of `steering:`.
struct SteeredParameter {
  using Value = std::variant<std::int64_t, double>;
  std::string name;
  Value initial;  ///< of the parameter's type
  std::optional<double> minimum{}, maximum{};

  [[nodiscard]] bool is_real() const noexcept { return std::holds_alternative<double>(initial); }
};

/// A change as it is sent. Trivially copyable.
struct SteeredChange {
  std::int32_t parameter = 0;  ///< number in the configuration
  std::int32_t reserved = 0;
  std::uint64_t bits = 0;  ///< bits of the value
};

/// Largest number of parameters. All fit in one notice, and in a word with a bit for each.
inline constexpr std::size_t most_steered = 64;
/// Notice::kind of changes: SteeredChange[], in effect at the end of Notice::iteration.
inline constexpr std::uint32_t steering_notice = 1;
/// Notice::kind of an order to end the run, without payload. Notice::iteration is the last one; -1: not known yet.
inline constexpr std::uint32_t ending_notice = 2;

[[nodiscard]] inline std::uint64_t bits_of(const SteeredParameter::Value& value) noexcept {
  const auto* real = std::get_if<double>(&value);
  return real ? std::bit_cast<std::uint64_t>(*real) : static_cast<std::uint64_t>(*std::get_if<std::int64_t>(&value));
}

[[nodiscard]] inline SteeredParameter::Value value_of(const SteeredParameter& parameter, std::uint64_t bits) noexcept {
  if (parameter.is_real()) return std::bit_cast<double>(bits);
  return static_cast<std::int64_t>(bits);
}

/// The value as text.
[[nodiscard]] inline std::string text_of(const SteeredParameter::Value& value) {
  return std::visit([](const auto& number) { return fmt::format("{}", number); }, value);
}

}  // namespace sidestream
