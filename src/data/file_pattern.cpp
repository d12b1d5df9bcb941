#include "sidestream/kit/data/file_pattern.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

enum class Field { index, cycle, time, server };

/// One piece of a pattern: plain text, or a field with an optional width (-1: none).
struct Piece {
  std::string text;
  bool is_field = false;
  Field field = Field::index;
  int width = -1;
};

constexpr std::string_view remedy =
    "expected {index}, {cycle}, {time} or {server}, each with an optional width as in "
    "{cycle:06} or {time:.4}; write '{{' for a brace";
constexpr int widest = 30;

[[noreturn]] void refuse(const std::string& pattern, std::string_view problem) {
  fail(Code::configuration, "found the file name '{}', {}; {}", pattern, problem, remedy);
}

/// The value of a width; -1 if the digits are no number from 0 to `widest`.
int parse_width(std::string_view digits) {
  int width = -1;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), width);
  const bool complete = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
  return complete && width >= 0 && width <= widest ? width : -1;
}

Piece parse_field(const std::string& pattern, std::string_view inside) {
  const std::size_t colon = inside.find(':');
  const std::string_view name = inside.substr(0, colon);
  Piece piece;
  piece.is_field = true;
  if (name == "index") {
    piece.field = Field::index;
  } else if (name == "cycle") {
    piece.field = Field::cycle;
  } else if (name == "time") {
    piece.field = Field::time;
  } else if (name == "server") {
    piece.field = Field::server;
  } else {
    refuse(pattern, fmt::format("whose field '{{{}}}' is not known", inside));
  }
  if (colon == std::string_view::npos) return piece;
  std::string_view digits = inside.substr(colon + 1);
  const bool has_point = !digits.empty() && digits.front() == '.';
  if (has_point) digits.remove_prefix(1);
  piece.width = parse_width(digits);
  if (piece.width < 0 || has_point != (piece.field == Field::time)) {
    refuse(pattern, fmt::format("whose field '{{{}}}' has a width that cannot be read", inside));
  }
  return piece;
}

/// Refuses `%05d`, the form of printf and other tools, in a name without fields: it would be taken literally and be the
/// same in every iteration.
void refuse_printf(const std::string& pattern) {
  for (std::size_t at = pattern.find('%'); at != std::string::npos; at = pattern.find('%', at + 1)) {
    const std::size_t end = pattern.find_first_not_of("0123456789", at + 1);
    if (end == std::string::npos || (pattern[end] != 'd' && pattern[end] != 'i' && pattern[end] != 'u')) continue;
    const std::string width = pattern.substr(at + 1, end - at - 1);
    fail(Code::configuration,
         "found '{}' in the file name '{}', which stands for nothing here, expected a field in braces; did you mean "
         "'{{index{}}}' or '{{cycle{}}}'?",
         pattern.substr(at, end - at + 1), pattern, width.empty() ? "" : ":" + width, width.empty() ? "" : ":" + width);
  }
}

std::vector<Piece> parse(const std::string& pattern) {
  if (pattern.empty())
    fail(Code::configuration, "found an empty file name, expected one such as 'image-{{index:05}}.png'");
  std::vector<Piece> pieces(1);
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    const bool doubled = at + 1 < pattern.size() && pattern[at + 1] == c;
    if ((c == '{' || c == '}') && doubled) {
      pieces.back().text += c;
      ++at;
    } else if (c == '{') {
      const std::size_t close = pattern.find('}', at);
      if (close == std::string::npos) refuse(pattern, "in which a '{' is never closed");
      pieces.push_back(parse_field(pattern, std::string_view(pattern).substr(at + 1, close - at - 1)));
      pieces.emplace_back();
      at = close;
    } else if (c == '}') {
      refuse(pattern, "in which a '}' has no '{'");
    } else {
      pieces.back().text += c;
    }
  }
  return pieces;
}

bool is_separator(char c) { return c == '-' || c == '_' || c == '.'; }

/// Returns `part` without the fields that differ between iterations, and without the separators around them.
std::string without_fields(const std::string& part) {
  std::string out;
  for (std::size_t n = 0; n < part.size(); ++n) {
    if (part[n] != '{' || part.compare(n, 2, "{{") == 0 || part.compare(n, 7, "{server") == 0) {
      out += part[n];
      if (part[n] == '{' && part.compare(n, 2, "{{") == 0) out += part[++n];
      continue;
    }
    while (!out.empty() && is_separator(out.back())) out.pop_back();
    n = std::min(part.find('}', n), part.size());
    // A name that began with the field loses the separator after it as well.
    while (out.empty() && n + 1 < part.size() && is_separator(part[n + 1])) ++n;
  }
  return out;
}

/// The number with leading zeros up to the width, after the minus sign.
std::string padded(std::int64_t value, int width) {
  return width < 0 ? fmt::format("{}", value) : fmt::format("{:0{}}", value, width);
}

}  // namespace

std::string expand_pattern(const std::string& pattern, const Iteration& iteration, int server) {
  std::string name;
  for (const Piece& piece : parse(pattern)) {
    if (!piece.is_field) {
      name += piece.text;
      continue;
    }
    switch (piece.field) {
      case Field::index:
        name += padded(iteration.index, piece.width);
        break;
      case Field::cycle:
        name += padded(iteration.cycle, piece.width);
        break;
      case Field::server:
        name += padded(server, piece.width);
        break;
      case Field::time:
        name +=
            piece.width < 0 ? fmt::format("{}", iteration.time) : fmt::format("{:.{}f}", iteration.time, piece.width);
    }
  }
  return name;
}

bool names_iteration(const std::string& pattern) {
  for (const Piece& piece : parse(pattern)) {
    if (piece.is_field && piece.field != Field::server) return true;
  }
  return false;
}

bool names_field(const std::string& pattern, const std::string& field) {
  constexpr const char* names[] = {"index", "cycle", "time", "server"};
  for (const Piece& piece : parse(pattern)) {
    if (piece.is_field && names[static_cast<int>(piece.field)] == field) return true;
  }
  return false;
}

std::string series_stem(const std::string& pattern) {
  const std::size_t slash = pattern.rfind('/');
  const std::size_t name_at = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = pattern.rfind('.');
  const bool has_ending = dot != std::string::npos && dot > name_at;
  const std::string whole = pattern.substr(0, has_ending ? dot : std::string::npos);
  std::string kept, name;
  bool varies = false;
  for (std::size_t at = 0; at <= whole.size();) {
    const std::size_t end = std::min(whole.find('/', at), whole.size());
    const std::string text = whole.substr(at, end - at), constant = without_fields(text);
    varies = varies || constant != text;
    if (!varies) {
      // The last part without a field is the name itself unless a later part follows; they are joined below.
      kept += (at > 0 ? "/" : "") + text;
    } else {
      if (!name.empty() && !constant.empty()) name += '-';
      name += constant;
    }
    at = end + 1;
  }
  if (!varies) return kept;
  const bool joined = !kept.empty() || whole.starts_with('/');
  return kept + (joined ? "/" : "") + (name.empty() ? "series" : name);
}

void check_pattern(const std::string& pattern) {
  if (parse(pattern).size() == 1) refuse_printf(pattern);
}

}  // namespace sidestream
