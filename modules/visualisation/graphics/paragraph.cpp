#include "visualisation/graphics/paragraph.hpp"

#include <algorithm>

#include "visualisation/graphics/text.hpp"

namespace sidestream::rendering {

std::vector<std::string> broken_at_spaces(const std::string& text, double size, double available) {
  std::vector<std::string> lines{""};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at),
                      longer = lines.back().empty() ? word : lines.back() + " " + word;
    if (lines.back().empty() || text_width(longer, size) <= available) {
      lines.back() = longer;
    } else {
      lines.push_back(word);
    }
    at = end + 1;
  }
  return lines;
}

namespace {

bool all_fit(const std::vector<std::string>& lines, double size, double available) {
  return std::ranges::all_of(lines, [&](const std::string& line) { return text_width(line, size) <= available; });
}

/// Number of bytes of the first character.
std::size_t first_character(const std::string& text) {
  std::size_t bytes = 1;
  while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) ++bytes;
  return bytes;
}

/// Breaks lines that are too long between any two characters.
std::vector<std::string> broken_anywhere(const std::vector<std::string>& lines, double size, double available) {
  std::vector<std::string> result;
  for (std::string rest : lines) {
    result.emplace_back();
    while (!rest.empty()) {
      const std::size_t bytes = first_character(rest);
      const std::string longer = result.back() + rest.substr(0, bytes);
      if (!result.back().empty() && text_width(longer, size) > available) {
        result.emplace_back();
        continue;
      }
      result.back() = longer;
      rest.erase(0, bytes);
    }
  }
  return result;
}

}  // namespace

Paragraph fit_paragraph(const std::string& text, const ParagraphLimits& limits) {
  constexpr int steps = 8;
  Paragraph result;
  for (int step = 0; step <= steps; ++step) {
    result.size = limits.size + (limits.least - limits.size) * step / steps;
    result.lines = broken_at_spaces(text, result.size, limits.width);
    if (result.height() <= limits.height && all_fit(result.lines, result.size, limits.width)) return result;
  }
  result.lines = broken_anywhere(result.lines, result.size, limits.width);
  std::size_t most = 1;
  while (Paragraph::height_of(most + 1, result.size) <= limits.height) ++most;
  if (result.lines.size() <= most) return result;
  const std::string rest = result.lines[most - 1] + result.lines[most];
  result.lines.resize(most);
  result.lines.back() = cut_text(rest, result.size, limits.width);
  return result;
}

}  // namespace sidestream::rendering
