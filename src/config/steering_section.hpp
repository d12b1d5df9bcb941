// The section `steering`, and what may be set of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/options/read_settings.hpp"
#include "config/sections.hpp"
#include "data/steering.hpp"

namespace sidestream {

[[nodiscard]] Section steering_section();
/// Throws Error(configuration).
[[nodiscard]] std::vector<SteeredParameter> read_steering(const Document& document, const ReadContext& context);

/// The number of the parameter of that name. Throws Error(usage) with the names that there are.
[[nodiscard]] std::size_t find_steered(const std::vector<SteeredParameter>& all, std::string_view name);
/// Throws Error(usage) if the parameter takes no such value: of another type, or out of its range.
void check_steered(const SteeredParameter& parameter, const SteeredParameter::Value& value);
/// The value that a person wrote. Throws Error(usage) if it is none, or one that the parameter does not take.
[[nodiscard]] SteeredParameter::Value parse_steered(const SteeredParameter& parameter, std::string_view text);

}  // namespace sidestream
