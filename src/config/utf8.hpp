// Checking that a text is UTF-8.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sidestream {

/// Offset of the first byte that is not part of well-formed UTF-8 (Unicode 15, table 3-7), if any.
[[nodiscard]] std::optional<std::size_t> first_invalid_utf8(std::string_view text) noexcept;

/// Number of code points in well-formed text.
[[nodiscard]] std::size_t count_code_points(std::string_view text) noexcept;

}  // namespace sidestream
