#include "config/expressions/expression.hpp"

#include <charconv>
#include <cmath>

#include "base/text.hpp"
#include "config/options/document.hpp"
#include "config/options/names.hpp"

namespace sidestream {

namespace {

bool begins_name(char c) { return is_letter(c) || c == '_'; }
bool continues_name(char c) { return begins_name(c) || is_digit(c); }

/// Recursive descent: sum = product {(+|-) product}; product = factor {(*|/) factor};
/// factor = number | $name | (sum) | (+|-) factor.
class Evaluator {
 public:
  Evaluator(const std::string& text, const ExpressionContext& context, const std::string& what, const Location& where)
      : text_(text), context_(context), what_(what), where_(where) {}

  Number run() {
    const Number result = sum();
    skip_blanks();
    if (at_ < text_.size()) not_understood();
    return result;
  }

 private:
  [[nodiscard]] Location here() const {
    Location place = where_;
    if (place.line > 0) place.column += static_cast<int>(at_);
    return place;
  }

  [[noreturn]] void not_understood() {
    const std::string problem = at_ < text_.size() ? fmt::format("where '{}' cannot be read", text_.substr(at_))
                                                   : std::string("which ends too early");
    fail_at(here(),
            "found '{}' for {}, {}; expected a number or an expression of numbers and $names with + - * / and "
            "parentheses",
            text_, what_, problem);
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Number sum() {
    Number result = product();
    while (true) {
      if (take('+')) {
        result = combine('+', result, product());
      } else if (take('-')) {
        result = combine('-', result, product());
      } else {
        return result;
      }
    }
  }

  Number product() {
    Number result = factor();
    while (true) {
      if (take('*')) {
        result = combine('*', result, factor());
      } else if (take('/')) {
        result = combine('/', result, factor());
      } else {
        return result;
      }
    }
  }

  Number factor() {
    // Bounds the recursion: a text of a million parentheses must be an error, not a crash.
    constexpr int limit = 200;
    if (++depth_ > limit) {
      fail_at(here(), "found more than {} nested parentheses or signs for {}, expected fewer; simplify it", limit,
              what_);
    }
    Number result;
    if (take('-')) {
      result = combine('-', Number(std::int64_t{0}), factor());
    } else if (take('+')) {
      result = factor();
    } else if (take('(')) {
      result = sum();
      if (!take(')')) not_understood();
    } else if (take('$')) {
      result = parameter();
    } else {
      result = number();
    }
    --depth_;
    return result;
  }

  Number parameter() {
    const std::size_t dollar = at_ - 1;
    const std::size_t begin = at_;
    if (at_ < text_.size() && begins_name(text_[at_])) {
      while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    }
    const std::string name = text_.substr(begin, at_ - begin);
    const auto found = context_.parameters.find(name);
    if (found != context_.parameters.end() && !name.empty()) return found->second;
    at_ = dollar;
    if (name.empty()) not_understood();
    unknown(name);
  }

  [[noreturn]] void unknown(const std::string& name) {
    std::vector<std::string> known;
    for (const auto& [key, value] : context_.parameters) known.push_back("$" + key);
    // Without the '$', which would make short names look alike.
    const std::string near = did_you_mean(name, keys_of(context_.parameters));
    const std::string guess = near.empty() ? "" : fmt::format("did you mean '${}'? Otherwise ", near);
    if (context_.stage == Stage::opening) {
      fail_at(here(),
              "found ${} for {}, which is needed before the program can set it (known here: {}); {}write a "
              "number, or "
              "give {} a value under 'parameters:'",
              name, what_, listed(known), guess, name);
    }
    fail_at(here(),
            "${} has no value for {} (set are: {}); {}let the program set it before it starts, give it a "
            "value under "
            "'parameters:', or with 'sidestream check' give --set {}=VALUE",
            name, what_, listed(known), guess, name);
  }

  Number number() {
    skip_blanks();
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    // from_chars also reads "inf" and "nan"; numbers begin with a digit or a point.
    if (begin == end || (!is_digit(*begin) && *begin != '.')) not_understood();
    std::int64_t whole = 0;
    const auto as_whole = std::from_chars(begin, end, whole);
    const bool goes_on = as_whole.ptr != end && (*as_whole.ptr == '.' || *as_whole.ptr == 'e' || *as_whole.ptr == 'E');
    if (as_whole.ec == std::errc() && !goes_on) {
      at_ += static_cast<std::size_t>(as_whole.ptr - begin);
      return whole;
    }
    double real = 0;
    const auto as_double = std::from_chars(begin, end, real);
    if (as_double.ec == std::errc::invalid_argument) not_understood();
    const bool whole_too_large = as_whole.ec == std::errc::result_out_of_range && !goes_on;
    if (as_double.ec == std::errc::result_out_of_range || whole_too_large) too_large();
    at_ += static_cast<std::size_t>(as_double.ptr - begin);
    return real;
  }

  [[noreturn]] void too_large() {
    fail_at(here(), "found '{}' for {}, whose value does not fit in 64 bits; write a smaller number", text_, what_);
  }

  Number combine(char operation, const Number& a, const Number& b) {
    if (std::holds_alternative<std::int64_t>(a) && std::holds_alternative<std::int64_t>(b)) {
      return combine_whole(operation, std::get<std::int64_t>(a), std::get<std::int64_t>(b));
    }
    const double x = as_real(a), y = as_real(b);
    if (operation == '/' && y == 0) division_by_zero();
    const double result = operation == '+' ? x + y : operation == '-' ? x - y : operation == '*' ? x * y : x / y;
    if (!std::isfinite(result)) too_large();
    return result;
  }

  Number combine_whole(char operation, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    bool overflow = false;
    switch (operation) {
      case '+':
        overflow = __builtin_add_overflow(a, b, &result);
        break;
      case '-':
        overflow = __builtin_sub_overflow(a, b, &result);
        break;
      case '*':
        overflow = __builtin_mul_overflow(a, b, &result);
        break;
      default:
        if (b == 0) division_by_zero();
        if (b == -1) return combine_whole('-', 0, a);
        if (a % b != 0) return static_cast<double>(a) / static_cast<double>(b);
        result = a / b;
    }
    if (overflow) too_large();
    return result;
  }

  [[noreturn]] void division_by_zero() {
    fail_at(where_, "found '{}' for {}, which divides by zero; change the divisor", text_, what_);
  }

  const std::string& text_;
  const ExpressionContext& context_;
  const std::string& what_;
  const Location& where_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Number evaluate(const std::string& text, const ExpressionContext& context, const std::string& what,
                const Location& where) {
  return Evaluator(text, context, what, where).run();
}

double as_real(const Number& number) noexcept {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

}  // namespace sidestream
