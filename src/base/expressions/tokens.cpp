#include "base/expressions/tokens.hpp"

#include <array>
#include <charconv>

#include "sidestream/kit/base/numbers.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream {

namespace {

constexpr std::array<std::string_view, 6> long_signs{"<=", ">=", "==", "!=", "&&", "||"};
constexpr std::string_view short_signs = "+-*/^()<>?:,.[]";

const char* clause_of(SyntaxError::Kind kind) {
  switch (kind) {
    case SyntaxError::Kind::unreadable:
      return "which cannot be read here";
    case SyntaxError::Kind::ends:
      return "which ends too early";
    case SyntaxError::Kind::unclosed:
      return "in which this parenthesis is not closed";
    case SyntaxError::Kind::unclosed_quote:
      return "in which this quote is not closed";
    case SyntaxError::Kind::operator_missing:
      return "in which an operator is missing here";
    case SyntaxError::Kind::operator_found:
      return "in which an operator is not expected here";
    case SyntaxError::Kind::parenthesis_found:
      return "in which a parenthesis is not expected here";
    case SyntaxError::Kind::comma_found:
      return "in which a ',' is not expected here";
    case SyntaxError::Kind::conditional:
      return "in which '?' and ':' do not go together";
    case SyntaxError::Kind::index:
      return "in which '[' is not followed by a whole number and ']'";
    case SyntaxError::Kind::too_deep:
      return "which is nested too deep";
    case SyntaxError::Kind::too_long:
      break;
  }
  return "which is too long";
}

bool continues_word(char c) { return is_letter_or_digit(c) || c == '_'; }

std::size_t after_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

std::size_t after_word(std::string_view text, std::size_t at) {
  while (at < text.size() && continues_word(text[at])) ++at;
  return at;
}

Token number_at(std::string_view text, std::size_t begin) {
  double ignored = 0;  // only the length of the number is used
  const auto read = std::from_chars(text.data() + begin, text.data() + text.size(), ignored);
  const auto end = static_cast<std::size_t>(read.ptr - text.data());
  return {Token::Kind::number, begin, end, text.substr(begin, end - begin)};
}

Token parameter_at(std::string_view text, std::size_t begin) {
  const std::size_t name = begin + 1;
  if (name >= text.size() || !continues_word(text[name]) || is_digit(text[name])) {
    throw SyntaxError(SyntaxError::Kind::unreadable, begin);
  }
  const std::size_t end = after_word(text, name);
  return {Token::Kind::parameter, begin, end, text.substr(name, end - name)};
}

Token quoted_at(std::string_view text, std::size_t begin) {
  const std::size_t end = text.find(text[begin], begin + 1);
  if (end == std::string_view::npos) throw SyntaxError(SyntaxError::Kind::unclosed_quote, begin);
  return {Token::Kind::quoted, begin, end + 1, text.substr(begin + 1, end - begin - 1)};
}

Token sign_at(std::string_view text, std::size_t begin) {
  const std::string_view two = text.substr(begin, 2);
  if (two == "**") throw SyntaxError(SyntaxError::Kind::unreadable, begin);  // not two operators
  for (const std::string_view sign : long_signs) {
    if (two == sign) return {Token::Kind::sign, begin, begin + 2, two};
  }
  if (short_signs.find(text[begin]) == std::string_view::npos) {
    throw SyntaxError(SyntaxError::Kind::unreadable, begin);
  }
  return {Token::Kind::sign, begin, begin + 1, two.substr(0, 1)};
}

}  // namespace

SyntaxError::SyntaxError(Kind kind, std::size_t position)
    : std::runtime_error(clause_of(kind)), kind_(kind), position_(position) {}

Token read_token(std::string_view text, std::size_t position) {
  const std::size_t begin = after_blanks(text, position);
  if (begin == text.size()) return {Token::Kind::end, begin, begin};
  const char c = text[begin];
  if (is_digit(c) || (c == '.' && begin + 1 < text.size() && is_digit(text[begin + 1]))) return number_at(text, begin);
  if (c == '$') return parameter_at(text, begin);
  if (c == '\'' || c == '"') return quoted_at(text, begin);
  if (!continues_word(c)) return sign_at(text, begin);
  const std::size_t end = after_word(text, begin);
  return {Token::Kind::word, begin, end, text.substr(begin, end - begin)};
}

Token read_name(std::string_view text, std::size_t position) {
  const std::size_t begin = after_blanks(text, position), end = after_word(text, begin);
  if (begin == end) return read_token(text, position);
  return {Token::Kind::word, begin, end, text.substr(begin, end - begin)};
}

std::optional<double> real_number(std::string_view digits) {
  const FloatEnvironment environment;
  double value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> whole_number(std::string_view digits) { return whole_of<std::int64_t>(digits); }

}  // namespace sidestream
