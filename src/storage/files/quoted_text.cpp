#include "storage/files/quoted_text.hpp"

#include <fmt/format.h>

#include "base/utf8.hpp"

namespace sidestream {

namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::string quoted_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : escaped_utf8(text)) {
    if (is_control(c)) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string literal_text(std::string_view text, int key_column, int indent) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  const std::string margin(static_cast<std::size_t>(key_column + indent), ' ');
  std::string result = fmt::format("|{}\n{}", indent, margin);
  for (const char c : escaped_utf8(text)) {
    if (c == '\n') {
      result += '\n' + margin;
    } else if (c == '\t' || !is_control(c)) {
      result += c;
    }
  }
  return result + '\n';
}

}  // namespace sidestream
