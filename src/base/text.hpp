// Texts: ASCII whatever the locale, UTF-8, and what the system says of its errors.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sidestream {

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
[[nodiscard]] constexpr bool is_letter_or_digit(char c) noexcept { return is_letter(c) || is_digit(c); }
/// A blank, a tab, or one of the ends of a line and a page.
[[nodiscard]] constexpr bool is_blank(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
[[nodiscard]] constexpr char lower_case(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Texts that may not be UTF-8.

/// Offset of the first byte that is not part of well-formed UTF-8 (Unicode 15, table 3-7), if any.
[[nodiscard]] std::optional<std::size_t> first_invalid_utf8(std::string_view text) noexcept;

/// Number of code points in well-formed text.
[[nodiscard]] std::size_t count_code_points(std::string_view text) noexcept;

/// Each byte of `text` as the character that ISO 8859-1 has for it.
[[nodiscard]] std::string utf8_of_latin_1(std::string_view text);

/// For people: the text with `\xb0` and the like for bytes that are not part of well-formed UTF-8.
[[nodiscard]] std::string escaped_utf8(std::string_view text);

// What the system says of its errors.

/// What `error_number` (of errno) means, in English and ASCII whatever the program's locale is: messages are written to
/// files that must be UTF-8.
[[nodiscard]] std::string system_text(int error_number);

}  // namespace sidestream
