// A recursive-descent parser for sums of products: sum = product {(+|-) product}, product = factor {(*|/) factor},
// factor = number or name with an optional component and power.
#include "data/relation_text.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

constexpr int most_power = 8;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<RelationProduct> sum() {
    std::vector<RelationProduct> products;
    double sign = take('-') ? -1 : 1;
    for (;;) {
      products.push_back(product(sign));
      if (take('+')) {
        sign = 1;
      } else if (take('-')) {
        sign = -1;
      } else {
        break;
      }
    }
    if (at_ < text_.size()) wrong("+, -, * or /");
    return products;
  }

 private:
  [[noreturn]] void wrong(const char* expected) const {
    fail(
        Code::configuration,
        "found '{}' in '{}' from character {} on, expected {}; write a sum of products of numbers and variables such as "
        "'0.5 * density * velocity.x^2 + pressure / 0.4'",
        text_.substr(at_), text_, at_ + 1, expected);
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  RelationProduct product(double sign) {
    RelationProduct made;
    made.coefficient = sign;
    bool divides = false;
    for (;;) {
      factor(made, divides);
      if (take('*')) {
        divides = false;
      } else if (take('/')) {
        divides = true;
      } else {
        return made;
      }
    }
  }

  void factor(RelationProduct& into, bool divides) {
    skip();
    if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) {
      const double value = number();
      if (divides && value == 0) wrong("a number that can be divided by");
      into.coefficient = divides ? into.coefficient / value : into.coefficient * value;
      return;
    }
    const RelationFactor found{name(), component()};
    const int times = take('^') ? power() : 1;
    std::vector<RelationFactor>& list = divides ? into.over : into.times;
    list.insert(list.end(), static_cast<std::size_t>(times), found);
  }

  double number() {
    double value = 0;
    const auto read = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (read.ec != std::errc()) wrong("a number");
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    return value;
  }

  std::string name() {
    if (take('\'')) {
      const std::size_t end = text_.find('\'', at_);
      if (end == std::string_view::npos || end == at_) wrong("a name and a quote at its end");
      const std::string found(text_.substr(at_, end - at_));
      at_ = end + 1;
      return found;
    }
    const std::size_t begin = at_;
    const auto fits = [](char c) { return is_letter_or_digit(c) || c == '_'; };
    while (at_ < text_.size() && fits(text_[at_])) ++at_;
    if (at_ == begin) wrong("a number or the name of a variable");
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::int32_t component() {
    if (at_ < text_.size() && text_[at_] == '.') {
      const std::size_t axis = at_ + 1 < text_.size() ? std::string_view("xyz").find(text_[at_ + 1]) : 3;
      if (axis > 2) wrong("a component: .x, .y or .z, or [0], [1] ...");
      at_ += 2;
      return static_cast<std::int32_t>(axis);
    }
    if (at_ >= text_.size() || text_[at_] != '[') return -1;
    ++at_;
    std::int32_t value = 0;
    const auto read = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (read.ec != std::errc() || value < 0) wrong("the number of a component, from 0");
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    if (!take(']')) wrong("']'");
    return value;
  }

  int power() {
    skip();
    int value = 0;
    const auto read = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (read.ec != std::errc() || value < 1 || value > most_power) wrong("a power from 1 to 8");
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<RelationProduct> parse_products(std::string_view text) { return Parser(text).sum(); }

ParentRelation parse_parent(std::string_view text) {
  constexpr std::string_view front = "mean of ";
  if (text == "sum") return {true, {}};
  if (text == "mean") return {};
  if (text.starts_with(front)) return {false, parse_products(text.substr(front.size()))};
  fail(
      Code::configuration,
      "found '{}' for how a parent follows from its children, expected 'mean', 'sum', or 'mean of' and what the mean is "
      "of, such as "
      "'mean of density * velocity'; write one of them",
      text);
}

CellFace parse_face(std::string_view text) {
  constexpr std::string_view names[] = {"low-x", "high-x", "low-y", "high-y", "low-z", "high-z"};
  for (int n = 0; n < 6; ++n) {
    if (text == names[n]) return {n / 2, n % 2 != 0};
  }
  fail(Code::configuration,
       "found the face '{}', expected low-x, high-x, low-y, high-y, low-z or high-z; write one of them", text);
}

std::vector<std::string> named_in(const std::string& variable, const VariableRelations& relations) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (!name.empty() && name != variable && std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  };
  const auto add_all = [&](const std::vector<RelationProduct>& products) {
    for (const RelationProduct& product : products) {
      for (const RelationFactor& factor : product.times) add(factor.variable);
      for (const RelationFactor& factor : product.over) add(factor.variable);
    }
  };
  if (!relations.parent.empty()) add_all(parse_parent(relations.parent).of);
  if (!relations.equals.empty()) add_all(parse_products(relations.equals));
  add(relations.opposite);
  for (const std::string& name : relations.divergence_free) add(name);
  return names;
}

}  // namespace sidestream
