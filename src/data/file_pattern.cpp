#include "data/file_pattern.hpp"

#include <charconv>
#include <string_view>
#include <vector>

#include "base/fail.hpp"

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

/// The digits of a width; -1 if they are no number from 0 to `widest`.
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

/// Zeros in front up to the width, a minus sign before them.
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

void check_pattern(const std::string& pattern) { static_cast<void>(parse(pattern)); }

}  // namespace sidestream
