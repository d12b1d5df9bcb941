// Texts: ASCII whatever the locale, UTF-8, and the system's error texts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sidestream {

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
[[nodiscard]] constexpr bool is_letter_or_digit(char c) noexcept { return is_letter(c) || is_digit(c); }
/// True for a blank, a tab, and the ends of lines and pages.
[[nodiscard]] constexpr bool is_blank(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
[[nodiscard]] constexpr char lower_case(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Texts that may not be UTF-8.

/// Offset of the first byte that is not part of well-formed UTF-8 (Unicode 15, table 3-7), if any.
[[nodiscard]] std::optional<std::size_t> first_invalid_utf8(std::string_view text) noexcept;

/// Number of code points in well-formed text.
[[nodiscard]] std::size_t count_code_points(std::string_view text) noexcept;

/// Converts from ISO 8859-1: each byte of `text` as its character.
[[nodiscard]] std::string utf8_of_latin_1(std::string_view text);

/// The text for people, with `\xb0` and the like for bytes that are not part of well-formed UTF-8.
[[nodiscard]] std::string escaped_utf8(std::string_view text);

/// The value of `key` in lines `key: value`; empty if there is none.
[[nodiscard]] std::string line_of(std::string_view text, std::string_view key);

// Error texts of the system.

/// The meaning of `error_number` (of errno), in English and ASCII whatever the program's locale is: messages are
/// written to files that must be UTF-8.
[[nodiscard]] std::string system_text(int error_number);

}  // namespace sidestream
