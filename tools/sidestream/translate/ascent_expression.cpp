// A recursive parser that translates as it goes. Each part becomes a value: the text of a number or a condition of
// ours, three such texts, or a thing that only some functions take (a field, a histogram, an extreme).
#include "translate/ascent_expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string_view>

#include "sidestream/kit/base/names.hpp"
#include "sidestream/kit/base/numbers.hpp"
#include "sidestream/kit/base/text.hpp"
#include "translate/ascent_file.hpp"

namespace sidestream::ascent {

namespace {

struct Value {
  enum class Kind { number, condition, vector, field, histogram, cdf, extreme, text };
  Kind kind = Kind::number;
  std::string text{};                ///< number, condition or text; of others the variable
  std::vector<std::string> parts{};  ///< of a vector
  std::string what{};                ///< of an extreme: max or min; of a histogram: its intervals
  std::string every{};               ///< of a condition on the cycle that is a schedule
  bool back = false;                 ///< it looks back already
};
using Kind = Value::Kind;

/// The arguments of a call.
struct Arguments {
  std::vector<Value> plain{};
  std::map<std::string, Value> named{};
};

class ExpressionTranslator {
 public:
  ExpressionTranslator(std::string text, Location where, const ExpressionNames& names, bool formula, int depth = 0)
      : text_(std::move(text)), where_(std::move(where)), names_(names), formula_(formula), depth_(depth) {
    if (depth_ > 20) refuse("queries that use each other in a circle");
    advance();
  }

  Value run() {
    Value value = either();
    if (!token_.empty()) refuse(fmt::format("'{}', which cannot be read", token_));
    return value;
  }
  std::vector<std::string> fields{};

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Refused(where_, fmt::format("the expression '{}' has {}", trimmed(text_), what));
  }
  static std::string trimmed(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    const std::size_t first = text.find_first_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
  }

  // Tokens: a number, a name, a text with its quote, or a sign.
  void advance() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
    const std::size_t begin = at_;
    const auto here = [&](std::size_t n = 0) { return at_ + n < text_.size() ? text_[at_ + n] : '\0'; };
    const char first = here();
    if (is_digit(first) || (first == '.' && is_digit(here(1)))) {
      while (is_digit(here()) || here() == '.') ++at_;
      const std::size_t sign = here(1) == '+' || here(1) == '-' ? 2 : 1;
      if ((here() == 'e' || here() == 'E') && is_digit(here(sign))) {
        for (at_ += sign; is_digit(here());) ++at_;
      }
    } else if (is_letter(first) || first == '_') {
      while (is_letter_or_digit(here()) || here() == '_') ++at_;
    } else if (first == '\'' || first == '"') {
      for (++at_; at_ < text_.size() && here() != first;) ++at_;
      if (at_ == text_.size()) refuse("a quote that is not closed");
      ++at_;
    } else if (first != '\0') {
      const std::string_view two = std::string_view(text_).substr(at_, 2);
      at_ += two == "==" || two == "!=" || two == "<=" || two == ">=" ? 2 : 1;
    }
    token_ = text_.substr(begin, at_ - begin);
  }
  bool take(std::string_view token) {
    if (token_ != token) return false;
    advance();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) refuse(fmt::format("'{}' where '{}' was expected", token_, token));
  }

  Value either() {
    Value left = both();
    while (take("or")) left = joined(std::move(left), "or", both());
    return left;
  }
  Value both() {
    Value left = compared();
    while (take("and")) left = joined(std::move(left), "and", compared());
    return left;
  }
  Value joined(const Value& left, const char* word, const Value& right) const {
    if (left.kind != Kind::condition || right.kind != Kind::condition)
      refuse(fmt::format("a number beside '{}'", word));
    const bool schedule = !left.every.empty() || !right.every.empty();
    if (schedule && (std::string_view(word) == "or" || (!left.every.empty() && !right.every.empty()))) {
      refuse("a remainder of the cycle in an alternative, which no schedule can be");
    }
    Value made{Kind::condition};
    made.every = left.every + right.every;
    const bool one = left.text.empty() || right.text.empty();
    made.text = one ? left.text + right.text : fmt::format("({} {} {})", left.text, word, right.text);
    return made;
  }

  Value compared() {
    if (take("not")) {
      const Value of = compared();
      if (of.kind != Kind::condition || !of.every.empty()) refuse("'not' before what is no condition of ours");
      return {Kind::condition, "(not " + of.text + ")"};
    }
    Value left = sum();
    for (const char* const sign : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (!take(sign)) continue;
      Value right = sum();
      if (!left.every.empty() && std::string_view(sign) == "==" && right.text == "0") {
        return {Kind::condition, "", {}, "", left.every};
      }
      return {Kind::condition, fmt::format("({} {} {})", number(left), sign, number(right))};
    }
    return left;
  }

  Value sum() {
    Value left = product();
    while (token_ == "+" || token_ == "-") {
      const std::string sign = token_;
      advance();
      left = arithmetic(left, sign, product());
    }
    return left;
  }
  Value product() {
    Value left = signed_value();
    while (token_ == "*" || token_ == "/" || token_ == "%") {
      const std::string sign = token_;
      advance();
      left = arithmetic(left, sign, signed_value());
    }
    return left;
  }
  Value signed_value() {
    if (take("-")) return arithmetic({Kind::number, "0"}, "-", signed_value());
    if (take("+")) return signed_value();
    return attributes();
  }
  Value arithmetic(const Value& left, const std::string& sign, const Value& right) {
    if (sign == "%") {
      if (left.text != "cycle" || !real_of(right.text)) refuse("'%' of something else than the cycle and a number");
      Value made;
      made.every = right.text + " cycles";
      return made;
    }
    if (left.kind == Kind::vector || right.kind == Kind::vector) return on_vectors(left, sign, right);
    Value made{Kind::number, fmt::format("({} {} {})", number(left), sign, number(right))};
    made.back = left.back || right.back;
    return made;
  }
  Value on_vectors(const Value& left, const std::string& sign, const Value& right) {
    Value made{Kind::vector};
    for (std::size_t n = 0; n < 3; ++n) {
      const auto part = [&](const Value& of) { return of.kind == Kind::vector ? of.parts.at(n) : number(of); };
      made.parts.push_back(fmt::format("({} {} {})", part(left), sign, part(right)));
    }
    return made;
  }

  /// The text of a number; a field is one in formulas.
  std::string number(const Value& value) const {
    if (!value.every.empty()) refuse("a remainder of the cycle, which can only be compared with 0");
    if (value.kind == Kind::number || (formula_ && value.kind == Kind::field)) return value.text;
    if (value.kind == Kind::extreme) return fmt::format("{}({})", value.what, value.text);
    if (value.kind == Kind::condition && formula_) return value.text;
    static constexpr std::array<const char*, 8> kinds{"a number",    "a condition",    "a vector",   "a field",
                                                      "a histogram", "a distribution", "an extreme", "a text"};
    refuse(fmt::format("{} where a number was expected", kinds[static_cast<std::size_t>(value.kind)]));
  }

  Value attributes() {
    Value value = primary();
    while (take(".")) {
      const std::string name = token_;
      advance();
      if (value.kind == Kind::extreme && name == "value") {
        value = {Kind::number, number(value)};
      } else if (value.kind == Kind::extreme && name == "position") {
        Value at{Kind::vector};
        for (const char* const axis : {"x", "y", "z"}) {
          at.parts.push_back(fmt::format("at_{}({}, {})", value.what, value.text, axis));
        }
        value = std::move(at);
      } else if (value.kind == Kind::vector && name.size() == 1 && name[0] >= 'x' && name[0] <= 'z') {
        value = {Kind::number, value.parts.at(static_cast<std::size_t>(name[0] - 'x'))};
      } else if (value.kind == Kind::number && name == "value") {
        // Sums and means are objects with a value, too.
      } else {
        refuse(fmt::format("'.{}', which has no counterpart", name));
      }
    }
    return value;
  }

  Value primary() {
    if (take("(")) {
      Value inner = either();
      expect(")");
      return inner;
    }
    const std::string token = token_;
    if (token.empty()) refuse("an end that comes too early");
    advance();
    if (is_digit(token[0]) || token[0] == '.') return {Kind::number, token};
    if (token[0] == '\'' || token[0] == '"') return {Kind::text, token.substr(1, token.size() - 2)};
    if (token == "if") refuse("'if', which has no counterpart in conditions");
    if (!is_letter(token[0]) && token[0] != '_') refuse(fmt::format("'{}', which has no counterpart", token));
    if (!take("(")) return query(token);
    return call(token, arguments(token == "history"));
  }

  /// `of_query`: the first argument is the name of a query.
  Arguments arguments(bool of_query) {
    Arguments all;
    if (of_query) {
      all.plain.push_back({Kind::text, token_});
      advance();
      if (!take(",")) {
        expect(")");
        return all;
      }
    }
    while (!take(")")) {
      const std::size_t at = at_;
      const std::string name = token_;
      advance();
      if (token_ == "=") {
        advance();
        all.named[name] = either();
      } else {
        at_ = at;
        token_ = name;
        all.plain.push_back(either());
      }
      if (!take(",") && token_ != ")") refuse(fmt::format("'{}' where ',' was expected", token_));
    }
    return all;
  }

  Value query(const std::string& name) {
    const auto* const found = names_.query(name);
    if (found == nullptr) refuse(fmt::format("the name '{}', which no query has", name));
    ExpressionTranslator inner(found->first, found->second, names_, formula_, depth_ + 1);
    Value value = inner.run();
    fields.insert(fields.end(), inner.fields.begin(), inner.fields.end());
    return value;
  }

  /// The argument of that number or name, or null.
  static const Value* argument(const Arguments& all, std::size_t n, const std::string& name) {
    const auto found = all.named.find(name);
    if (found != all.named.end()) return &found->second;
    return n < all.plain.size() ? &all.plain[n] : nullptr;
  }
  const Value& need(const Arguments& all, std::size_t n, const std::string& name, const std::string& function) const {
    const Value* const found = argument(all, n, name);
    if (found == nullptr) refuse(fmt::format("'{}' without its argument '{}'", function, name));
    return *found;
  }

  Value call(const std::string& name, const Arguments& all) {
    if (name == "cycle" || name == "time") return {Kind::number, name};
    if (name == "field") return field(all);
    if (name == "history") return history(all);
    if (name == "vector") return vector(all);
    if (formula_) return in_formula(name, all);
    const bool of_field = !all.plain.empty() || all.named.count("arg1") > 0 || all.named.count("field") > 0;
    if (!of_field) refuse(fmt::format("the function '{}', which has no counterpart", name));
    const Value& first = all.plain.empty() ? all.named.begin()->second : all.plain.front();
    return of_values(name, all, first);
  }

  Value of_values(const std::string& name, const Arguments& all, const Value& first) {
    static const std::map<std::string, std::string> statistics{
        {"avg", "mean"}, {"sum", "sum"}, {"field_nan_count", "nan"}, {"field_inf_count", "infinite"}};
    const auto statistic = statistics.find(name);
    if (first.kind == Kind::field && statistic != statistics.end()) {
      return {Kind::number, fmt::format("{}({})", statistic->second, first.text)};
    }
    if (first.kind == Kind::field && (name == "max" || name == "min")) return {Kind::extreme, first.text, {}, name};
    if (first.kind == Kind::field && name == "histogram") return histogram(all, first);
    if (first.kind == Kind::histogram && (name == "cdf" || name == "pdf")) return {Kind::cdf, first.text};
    if (first.kind == Kind::histogram && name == "entropy") {
      return {Kind::number, fmt::format("entropy({}, {})", first.text, first.what)};
    }
    if (first.kind == Kind::cdf && name == "quantile") {
      return {Kind::number, fmt::format("quantile({}, {})", first.text, number(need(all, 1, "q", name)))};
    }
    if (name == "magnitude" && first.kind == Kind::vector) {
      const auto& p = first.parts;
      return {Kind::number, fmt::format("sqrt({0} * {0} + {1} * {1} + {2} * {2})", p.at(0), p.at(1), p.at(2))};
    }
    if (name == "abs" || name == "sqrt") return {Kind::number, fmt::format("{}({})", name, number(first))};
    if (name == "pow") {
      const std::string power = number(need(all, 1, "exponent", name)), base = number(first);
      if (power == "2") return {Kind::number, fmt::format("({0} * {0})", base)};
      if (power == "3") return {Kind::number, fmt::format("({0} * {0} * {0})", base)};
    }
    if (name == "nan") return {Kind::number, "(0 / 0)"};
    refuse(fmt::format("the function '{}' of what stands there, which has no counterpart", name));
  }

  /// The same number of intervals as Ascent's, if none is given.
  Value histogram(const Arguments& all, const Value& first) {
    if (all.named.count("min_val") > 0 || all.named.count("max_val") > 0) {
      refuse("a histogram with a range of its own; entropy and quantile take that of the values");
    }
    const Value* const bins = argument(all, 1, "num_bins");
    return {Kind::histogram, first.text, {}, bins == nullptr ? "256" : number(*bins)};
  }

  Value field(const Arguments& all) {
    const Value& name = need(all, 0, "field_name", "field");
    if (name.kind != Kind::text) refuse("a field without a name in quotes");
    const Value* const component = argument(all, 1, "component");
    fields.push_back(plain_name(name.text));
    if (component == nullptr) return {Kind::field, names_.field(name.text, 1)};
    static const std::map<std::string, int> numbers{{"x", 0}, {"y", 1}, {"z", 2}, {"u", 0}, {"v", 1}, {"w", 2}};
    const auto found = numbers.find(component->text);
    if (found == numbers.end()) {
      refuse(fmt::format("the component '{}'; ours have numbers", component->text));
    }
    return {Kind::field, fmt::format("{}[{}]", names_.field(name.text, 3), found->second)};
  }

  Value history(const Arguments& all) {
    const Value* const back = argument(all, 1, "relative_index");
    if (back == nullptr || back->kind != Kind::number) refuse("'history' without a relative index, which ours need");
    Value of = query(all.plain.front().text);
    if (of.back) refuse("'history' of what looks back already");
    Value made{Kind::number, fmt::format("previous({}, {})", number(of), back->text)};
    if (back->text == "0") made.text = number(of);
    made.back = back->text != "0";
    return made;
  }

  Value vector(const Arguments& all) {
    if (all.plain.size() != 3) refuse("a vector that has not three numbers");
    if (formula_) {
      return {Kind::number,
              fmt::format("vector({}, {}, {})", number(all.plain[0]), number(all.plain[1]), number(all.plain[2]))};
    }
    return {Kind::vector, "", {number(all.plain[0]), number(all.plain[1]), number(all.plain[2])}};
  }

  /// Functions of values at a point.
  Value in_formula(const std::string& name, const Arguments& all) {
    static const std::map<std::string, std::string> same{
        {"sin", "sin"},   {"cos", "cos"},          {"exp", "exp"},
        {"log", "ln"},    {"sqrt", "sqrt"},        {"abs", "abs"},
        {"max", "max"},   {"min", "min"},          {"magnitude", "magnitude"},
        {"curl", "curl"}, {"gradient", "gradient"}};
    std::vector<std::string> values;
    for (const Value& one : all.plain) values.push_back(number(one));
    if (name == "pow" && values.size() == 2) return {Kind::number, fmt::format("({})^({})", values[0], values[1])};
    const auto found = same.find(name);
    if (found == same.end() || values.empty() || !all.named.empty()) {
      refuse(fmt::format("the function '{}', which has no counterpart in derived variables", name));
    }
    return {Kind::number, fmt::format("{}({})", found->second, fmt::join(values, ", "))};
  }

  std::string text_;
  Location where_;
  const ExpressionNames& names_;
  bool formula_;
  int depth_;
  std::size_t at_ = 0;
  std::string token_{};
};

}  // namespace

TranslatedCondition translated_condition(const std::string& text, const Location& where, const ExpressionNames& names) {
  const Value value = ExpressionTranslator(text, where, names, false).run();
  if (value.kind == Kind::condition) return {value.text, value.every};
  throw Refused(where, fmt::format("the expression '{}' is no condition", text));
}

TranslatedQuery translated_query(const std::string& text, const Location& where, const ExpressionNames& names) {
  ExpressionTranslator translator(text, where, names, false);
  const Value value = translator.run();
  TranslatedQuery made{{}, translator.fields, {}};
  if (value.kind == Kind::histogram || value.kind == Kind::cdf) {
    made.bins = value.what.empty() ? "256" : value.what;
  } else if (value.kind == Kind::number || value.kind == Kind::extreme) {
    made.number = value.kind == Kind::number ? value.text : fmt::format("{}({})", value.what, value.text);
  } else {
    throw Refused(where, fmt::format("the expression '{}' is no number or histogram", text));
  }
  return made;
}

std::string translated_formula(const std::string& text, const Location& where, const ExpressionNames& names) {
  const Value value = ExpressionTranslator(text, where, names, true).run();
  if (value.kind == Kind::number || value.kind == Kind::field || value.kind == Kind::condition) return value.text;
  throw Refused(where, fmt::format("the expression '{}' is no value at a point", text));
}

}  // namespace sidestream::ascent
