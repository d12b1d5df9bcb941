#include "config/expressions/condition.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>

#include "base/text.hpp"
#include "config/options/document.hpp"
#include "config/options/names.hpp"

namespace sidestream {

/// A part of a condition: a number, or, if it is `logical`, 0 or 1.
struct Condition::Node {
  std::function<double(const Facts& now, const Facts* before)> value;
  bool logical = false;
  bool looks_back = false;
};

namespace {

using ConditionNode = Condition::Node;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<std::string_view, 4> statistic_names{"min", "max", "mean", "sum"};
constexpr std::array<std::string_view, 3> time_names{"iteration", "cycle", "time"};

bool continues_word(char c) { return is_letter_or_digit(c) || c == '_'; }

/// Recursive descent: either = both {or both}; both = negation {and negation}; negation = not negation | comparison;
/// comparison = sum [(<|<=|>|>=|==|!=) sum]; sum = product {(+|-) product}; product = factor {(*|/) factor};
/// factor = (+|-) factor | (either) | number | $name | iteration | cycle | time
///        | (min|max|mean|sum)(variable [, component]) | (previous|change|abs)(sum).
class ConditionParser {
 public:
  ConditionParser(const std::string& text, const ExpressionContext& context, const Metadata& metadata,
                  const std::string& what, const Location& where)
      : text_(text), context_(context), metadata_(metadata), what_(what), where_(where) {}

  ConditionNode run() {
    // Each operator is a call inside another when it is evaluated.
    constexpr std::size_t longest = 16384;
    if (text_.size() > longest) {
      fail_at(where_, "found a text of {} characters for {}, expected at most {}; divide it among derived variables",
              text_.size(), what_, longest);
    }
    ConditionNode all = either();
    skip_blanks();
    if (at_ < text_.size()) not_understood();
    if (!all.logical) {
      fail_at(where_, "found '{}' for {}, which is a number and no condition; compare it, as in '{} > 1'", text_, what_,
              text_);
    }
    return all;
  }
  std::vector<Statistic> statistics{};

 private:
  [[nodiscard]] Location here() const {
    Location place = where_;
    if (place.line > 0) place.column += static_cast<int>(at_);
    return place;
  }

  [[noreturn]] void not_understood() const {
    const std::string problem = at_ < text_.size() ? fmt::format("where '{}' cannot be read", text_.substr(at_))
                                                   : std::string("which ends too early");
    fail_at(here(), "found '{}' for {}, {}; expected a condition such as 'max(temperature) > 500 and cycle > 10'",
            text_, what_, problem);
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(std::string_view sign) {
    skip_blanks();
    if (text_.compare(at_, sign.size(), sign) != 0) return false;
    at_ += sign.size();
    return true;
  }
  void need(std::string_view sign) {
    if (!take(sign)) not_understood();
  }
  [[nodiscard]] std::string_view peek_word() {
    skip_blanks();
    std::size_t end = at_;
    while (end < text_.size() && continues_word(text_[end])) ++end;
    return std::string_view(text_).substr(at_, end - at_);
  }
  bool take_word(std::string_view word) {
    if (peek_word() != word) return false;
    at_ += word.size();
    return true;
  }

  /// Of an operator: both sides must be conditions, or both numbers.
  void check(const ConditionNode& side, bool logical, std::string_view of) const {
    if (side.logical == logical) return;
    fail_at(here(), "found '{}' for {}, in which '{}' stands beside {}; expected {} there", text_, what_, of,
            logical ? "a number" : "a condition", logical ? "a condition, as in 'a > 1 and b > 2'" : "a number");
  }

  template <class Operation>
  ConditionNode join(ConditionNode left, ConditionNode right, bool takes_logical, bool logical, std::string_view name,
                     Operation operation) {
    check(left, takes_logical, name);
    check(right, takes_logical, name);
    const bool looks_back = left.looks_back || right.looks_back;
    auto value = [l = std::move(left.value), r = std::move(right.value), operation](const Facts& now,
                                                                                    const Facts* before) {
      return static_cast<double>(operation(l(now, before), r(now, before)));
    };
    return {std::move(value), logical, looks_back};
  }

  ConditionNode either() {
    ConditionNode left = both();
    while (take_word("or")) {
      left = join(std::move(left), both(), true, true, "or", [](double a, double b) { return a != 0 || b != 0; });
    }
    return left;
  }

  ConditionNode both() {
    ConditionNode left = negation();
    while (take_word("and")) {
      left = join(std::move(left), negation(), true, true, "and", [](double a, double b) { return a != 0 && b != 0; });
    }
    return left;
  }

  ConditionNode negation() {
    if (!take_word("not")) return comparison();
    deeper();
    ConditionNode of = negation();
    --depth_;
    check(of, true, "not");
    of.value = [value = std::move(of.value)](const Facts& now, const Facts* before) {
      return static_cast<double>(value(now, before) == 0);
    };
    return of;
  }

  ConditionNode comparison() {
    ConditionNode left = sum();
    const auto with = [&](std::string_view name, auto operation) {
      return join(std::move(left), sum(), false, true, name, operation);
    };
    if (take("<=")) return with("<=", std::less_equal<>());
    if (take(">=")) return with(">=", std::greater_equal<>());
    if (take("==")) return with("==", std::equal_to<>());
    if (take("!=")) return with("!=", [](double a, double b) { return a < b || a > b; });
    if (take("<")) return with("<", std::less<>());
    if (take(">")) return with(">", std::greater<>());
    return left;
  }

  ConditionNode sum() {
    ConditionNode left = product();
    for (;;) {
      if (take("+")) {
        left = join(std::move(left), product(), false, false, "+", std::plus<>());
      } else if (take("-")) {
        left = join(std::move(left), product(), false, false, "-", std::minus<>());
      } else {
        return left;
      }
    }
  }

  ConditionNode product() {
    ConditionNode left = factor();
    for (;;) {
      if (take("*")) {
        left = join(std::move(left), factor(), false, false, "*", std::multiplies<>());
      } else if (take("/")) {
        left = join(std::move(left), factor(), false, false, "/", std::divides<>());
      } else {
        return left;
      }
    }
  }

  void deeper() {
    constexpr int limit = 200;
    if (++depth_ > limit) {
      fail_at(here(), "found more than {} nested parentheses or signs for {}, expected fewer; simplify it", limit,
              what_);
    }
  }

  ConditionNode factor() {
    deeper();
    ConditionNode result;
    if (take("-")) {
      result = join(constant(0), factor(), false, false, "-", std::minus<>());
    } else if (take("+")) {
      result = factor();
    } else if (take("(")) {
      result = either();
      need(")");
    } else {
      result = operand();
    }
    --depth_;
    return result;
  }

  static ConditionNode constant(double number) {
    return {[number](const Facts&, const Facts*) { return number; }};
  }

  ConditionNode operand() {
    skip_blanks();
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    if (first == '$') return parameter();
    if (is_digit(first) || first == '.') return number();
    const std::string word(peek_word());
    if (word.empty()) not_understood();
    const std::size_t begin = at_;
    at_ += word.size();
    if (std::find(time_names.begin(), time_names.end(), word) != time_names.end()) return time_named(word);
    const auto statistic = std::find(statistic_names.begin(), statistic_names.end(), word);
    if (statistic != statistic_names.end()) {
      return statistic_of(static_cast<Statistic::What>(statistic - statistic_names.begin()));
    }
    if (word == "previous" || word == "change" || word == "abs") return function(word);
    at_ = begin;
    unknown_word(word);
  }

  [[noreturn]] void unknown_word(const std::string& word) const {
    std::vector<std::string> known{"previous", "change", "abs", "and", "or", "not"};
    known.insert(known.end(), statistic_names.begin(), statistic_names.end());
    known.insert(known.end(), time_names.begin(), time_names.end());
    if (metadata_.find_variable(word) != nullptr) {
      fail_at(here(),
              "found the variable '{}' alone for {}, expected a statistic of it; write max({}), min({}), mean({}) "
              "or sum({})",
              word, what_, word, word, word, word);
    }
    fail_at(here(), "found '{}' for {}, expected one of {}; {}", word, what_, listed(known),
            suggestion(word, known, "correct or remove it"));
  }

  ConditionNode number() {
    double value = 0;
    const auto read = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (read.ec != std::errc()) not_understood();
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    return constant(value);
  }

  ConditionNode parameter() {
    const std::size_t begin = at_++;
    const std::string_view name = peek_word();
    at_ += name.size();
    return constant(as_real(evaluate(text_.substr(begin, at_ - begin), context_, what_, where_)));
  }

  static ConditionNode time_named(const std::string& word) {
    if (word == "time") return {[](const Facts& now, const Facts*) { return now.iteration.time; }};
    if (word == "cycle") {
      return {[](const Facts& now, const Facts*) { return static_cast<double>(now.iteration.cycle); }};
    }
    return {[](const Facts& now, const Facts*) { return static_cast<double>(now.iteration.index); }};
  }

  /// A bare name, or one between quotes, as variables may be called anything.
  std::string variable_name() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') {
      const std::string word(peek_word());
      at_ += word.size();
      return word;
    }
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string::npos) not_understood();
    const std::string name = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return name;
  }

  ConditionNode statistic_of(Statistic::What what) {
    need("(");
    skip_blanks();
    const Location place = here();
    const std::string name = variable_name();
    const Variable* variable = metadata_.find_variable(name);
    if (variable == nullptr) {
      std::vector<std::string> known;
      for (const Variable& one : metadata_.variables) known.push_back(one.name);
      fail_at(place, "found the unknown variable '{}' for {}, expected one of {}; {}", name, what_, listed(known),
              suggestion(name, known, "declare it, or correct the name"));
    }
    Statistic statistic{what, variable->id, 0};
    if (take(",")) statistic.component = component(*variable);
    need(")");
    const auto found = std::find(statistics.begin(), statistics.end(), statistic);
    const auto n = static_cast<std::size_t>(found - statistics.begin());
    if (found == statistics.end()) statistics.push_back(statistic);
    return {[n](const Facts& now, const Facts*) { return now.statistics[n]; }};
  }

  std::int32_t component(const Variable& variable) {
    skip_blanks();
    std::int32_t value = -1;
    const auto read = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (read.ec != std::errc() || value < 0 || value >= variable.components) {
      fail_at(here(), "found '{}' for {}, expected a component of '{}', 0 to {}; write one", text_.substr(at_), what_,
              variable.name, variable.components - 1);
    }
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    return value;
  }

  ConditionNode function(const std::string& name) {
    need("(");
    deeper();
    ConditionNode of = sum();
    --depth_;
    need(")");
    check(of, false, name);
    if (name == "abs") {
      of.value = [value = std::move(of.value)](const Facts& now, const Facts* before) {
        return std::fabs(value(now, before));
      };
      return of;
    }
    if (of.looks_back) {
      fail_at(here(),
              "found '{}' for {}, which looks back further than one iteration; write 'previous' and 'change' "
              "around what does not contain them",
              text_, what_);
    }
    const bool difference = name == "change";
    of.looks_back = true;
    of.value = [value = std::move(of.value), difference](const Facts& now, const Facts* before) {
      const double then = before ? value(*before, nullptr) : unknown;
      return difference ? value(now, nullptr) - then : then;
    };
    return of;
  }

  const std::string& text_;
  const ExpressionContext& context_;
  const Metadata& metadata_;
  const std::string& what_;
  const Location& where_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Condition::Condition(const std::string& text, const ExpressionContext& context, const Metadata& metadata,
                     const std::string& what, const Location& where)
    : text_(text) {
  ConditionParser parser(text, context, metadata, what, where);
  root_ = std::make_shared<const ConditionNode>(parser.run());
  statistics_ = std::make_shared<const std::vector<Statistic>>(std::move(parser.statistics));
}

const std::vector<Statistic>& Condition::statistics() const noexcept { return *statistics_; }

bool Condition::holds(const Facts& now, const Facts* before) const { return root_->value(now, before) != 0; }

}  // namespace sidestream
