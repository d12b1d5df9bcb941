#include "data/steering.hpp"

#include <fmt/format.h>

#include <bit>

namespace sidestream {

std::uint64_t bits_of(const SteeredParameter::Value& value) noexcept {
  const auto* real = std::get_if<double>(&value);
  return real ? std::bit_cast<std::uint64_t>(*real) : static_cast<std::uint64_t>(*std::get_if<std::int64_t>(&value));
}

SteeredParameter::Value value_of(const SteeredParameter& parameter, std::uint64_t bits) noexcept {
  if (parameter.is_real()) return std::bit_cast<double>(bits);
  return static_cast<std::int64_t>(bits);
}

std::string text_of(const SteeredParameter::Value& value) {
  return std::visit([](const auto& number) { return fmt::format("{}", number); }, value);
}

}  // namespace sidestream
