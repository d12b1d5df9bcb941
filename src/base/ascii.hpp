// Kinds of characters, the same in every locale: those of <cctype> take bytes beyond ASCII for letters in some.
#pragma once

namespace sidestream {

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
[[nodiscard]] constexpr bool is_letter_or_digit(char c) noexcept { return is_letter(c) || is_digit(c); }
/// A blank, a tab, or one of the ends of a line and a page.
[[nodiscard]] constexpr bool is_blank(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
[[nodiscard]] constexpr char lower_case(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace sidestream
