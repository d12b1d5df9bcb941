// Sums of products, read from the tree of an expression: sum = product {(+|-) product}, product = factor {(*|/)
// factor}, factor = number or name with an optional component and power.
#include "data/relation_text.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/expressions/parse.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

constexpr std::int64_t most_power = 8;

/// Reads products from the tree of an expression. Parentheses have no meaning here.
class ProductReader {
 public:
  explicit ProductReader(std::string_view text) : text_(text), tree_(parse()) {}

  std::vector<RelationProduct> run() const {
    for (const SyntaxNode& node : tree_) {  // texts go into databases, and older readers know no parentheses
      if (text_[node.begin] == '(') wrong(node.begin, "a number or the name of a variable");
    }
    std::vector<std::pair<std::size_t, bool>> terms;  // node, and true if it is subtracted; last to first
    std::size_t node = tree_.size() - 1;
    while (is_one_of(node, Operator::add, Operator::subtract)) {
      terms.emplace_back(tree_[node].children[1], tree_[node].sign == Operator::subtract);
      node = tree_[node].children[0];
    }
    terms.emplace_back(node, false);
    std::vector<RelationProduct> products;
    for (auto term = terms.rbegin(); term != terms.rend(); ++term) {
      products.push_back(product(term->first, term->second ? -1 : 1, term == terms.rbegin()));
    }
    return products;
  }

 private:
  [[noreturn]] void wrong(std::size_t at, const char* expected) const {
    fail(
        Code::configuration,
        "found '{}' in '{}' from character {} on, expected {}; write a sum of products of numbers and variables such as "
        "'0.5 * density * velocity.x^2 + pressure / 0.4'",
        text_.substr(at), text_, at + 1, expected);
  }

  [[nodiscard]] SyntaxTree parse() const {
    using Fault = SyntaxError::Kind;
    try {
      return parse_expression(text_, {.deepest = 8});
    } catch (const SyntaxError& error) {
      const std::size_t at = error.position();
      switch (error.kind()) {
        case Fault::ends:
        case Fault::operator_found:
          wrong(at, "a number or the name of a variable");
        case Fault::unclosed_quote:
          wrong(at, "a name and a quote at its end");
        case Fault::index:
          wrong(at, "the number of a component, from 0, between '[' and ']'");
        case Fault::unreadable:
          if (text_[at] == '.') wrong(at, "a component: .x, .y or .z, or [0], [1] ...");
          wrong(at, "a number or the name of a variable");
        default:
          wrong(at, "+, -, * or /");
      }
    }
  }

  [[nodiscard]] bool is_one_of(std::size_t node, Operator one, Operator other) const {
    const SyntaxNode& of = tree_[node];
    return of.kind == SyntaxNode::Kind::binary && (of.sign == one || of.sign == other);
  }

  /// Reads a product. `first`: a sign may precede it.
  [[nodiscard]] RelationProduct product(std::size_t node, double sign, bool first) const {
    std::vector<std::pair<std::size_t, bool>> factors;  // node, and true if it divides; last to first
    while (is_one_of(node, Operator::multiply, Operator::divide)) {
      factors.emplace_back(tree_[node].children[1], tree_[node].sign == Operator::divide);
      node = tree_[node].children[0];
    }
    if (first && tree_[node].kind == SyntaxNode::Kind::unary && tree_[node].sign == Operator::minus) {
      sign = -sign;
      node = tree_[node].children[0];
    }
    factors.emplace_back(node, false);
    RelationProduct made;
    made.coefficient = sign;
    for (auto one = factors.rbegin(); one != factors.rend(); ++one) factor(made, tree_[one->first], one->second);
    return made;
  }

  void factor(RelationProduct& into, const SyntaxNode& node, bool divides) const {
    if (node.kind == SyntaxNode::Kind::number) {
      const std::optional<double> value = real_number(node.text);
      if (!value) wrong(node.begin, "a number");
      if (divides && *value == 0) wrong(node.begin, "a number that can be divided by");
      into.coefficient = divides ? into.coefficient / *value : into.coefficient * *value;
      return;
    }
    const bool raised = node.kind == SyntaxNode::Kind::binary && node.sign == Operator::power;
    const RelationFactor found = variable(raised ? tree_[node.children[0]] : node);
    const std::size_t times = raised ? power(tree_[node.children[1]]) : 1;
    std::vector<RelationFactor>& list = divides ? into.over : into.times;
    list.insert(list.end(), times, found);
  }

  [[nodiscard]] RelationFactor variable(const SyntaxNode& node) const {
    const bool component = node.kind == SyntaxNode::Kind::component;
    const SyntaxNode& name = component ? tree_[node.children[0]] : node;
    if (name.kind == SyntaxNode::Kind::name && !name.text.empty()) {
      return {std::string(name.text), component ? node.index : -1};
    }
    if (node.kind == SyntaxNode::Kind::number) wrong(node.end, "+, -, * or /");
    if (node.kind == SyntaxNode::Kind::binary) wrong(node.at, "+, -, * or /");
    wrong(node.begin, "a number or the name of a variable");
  }

  [[nodiscard]] std::size_t power(const SyntaxNode& node) const {
    const std::optional<std::int64_t> value =
        node.kind == SyntaxNode::Kind::number ? whole_number(node.text) : std::nullopt;
    if (!value || *value < 1 || *value > most_power) wrong(node.begin, "a power from 1 to 8");
    return static_cast<std::size_t>(*value);
  }

  std::string_view text_;
  SyntaxTree tree_;
};

}  // namespace

std::vector<RelationProduct> parse_products(std::string_view text) { return ProductReader(text).run(); }

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
