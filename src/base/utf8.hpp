// Texts that may not be UTF-8.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sidestream {

/// Offset of the first byte that is not part of well-formed UTF-8 (Unicode 15, table 3-7), if any.
[[nodiscard]] std::optional<std::size_t> first_invalid_utf8(std::string_view text) noexcept;

/// Number of code points in well-formed text.
[[nodiscard]] std::size_t count_code_points(std::string_view text) noexcept;

/// Each byte of `text` as the character that ISO 8859-1 has for it.
[[nodiscard]] std::string utf8_of_latin_1(std::string_view text);

/// For people: the text with `\xb0` and the like for bytes that are not part of well-formed UTF-8.
[[nodiscard]] std::string escaped_utf8(std::string_view text);

}  // namespace sidestream
