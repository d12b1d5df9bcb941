// The grammar of expressions, and arithmetic on arrays.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/expressions/formula.hpp"
#include "base/expressions/parse.hpp"

using namespace sidestream;

namespace {

using NodeKind = SyntaxNode::Kind;
using Fault = SyntaxError::Kind;

const SyntaxRules rules{.of_names = {"of"}, .negation = true};

/// The tree with an operator before its operands, all of them in parentheses.
std::string shown(const SyntaxTree& tree, std::size_t at) {
  const SyntaxNode& node = tree[at];
  std::string text = node.subject ? "#" : "";
  if (node.kind == NodeKind::parameter) text += "$";
  if (node.kind == NodeKind::unary || node.kind == NodeKind::binary) text += name_of(node.sign);
  if (node.kind == NodeKind::conditional) text += "?";
  if (node.kind == NodeKind::component) text += fmt::format("[{}]", node.index);
  text += node.text;
  if (node.children.empty() && node.kind != NodeKind::call) return text;
  for (const std::size_t child : node.children) text += " " + shown(tree, child);
  return "(" + text + ")";
}

std::string parsed(const std::string& text) {
  const SyntaxTree tree = parse_expression(text, rules);
  return shown(tree, tree.size() - 1);
}

/// The mistake and its position.
std::pair<Fault, std::size_t> fault(const std::string& text) {
  try {
    static_cast<void>(parse_expression(text, rules));
  } catch (const SyntaxError& error) {
    return {error.kind(), error.position()};
  }
  FAIL("nothing is wrong with ", text);
  return {};
}

/// Arithmetic of the arguments a, b, c ...
Formula formula_of(const std::string& text) {
  const SyntaxTree tree = parse_expression(text, rules);
  std::vector<std::size_t> same(26);
  for (std::size_t n = 0; n < same.size(); ++n) same[n] = n;
  std::vector<Formula> made;
  for (const SyntaxNode& node : tree) {
    if (node.kind == NodeKind::number) {
      made.push_back(Formula::of_constant(real_number(node.text).value()));
      continue;
    }
    if (node.kind == NodeKind::name) {
      made.push_back(Formula::of_argument(static_cast<std::size_t>(node.text[0] - 'a')));
      continue;
    }
    Formula all = made[node.children[0]];
    for (std::size_t n = 1; n < node.children.size(); ++n) all.append(made[node.children[n]], same);
    if (node.kind == NodeKind::unary) all.apply_unary(node.sign);
    if (node.kind == NodeKind::binary) all.apply_binary(node.sign);
    if (node.kind == NodeKind::conditional) all.choose();
    if (node.kind == NodeKind::call) all.apply(*find_number_function(node.text), node.children.size());
    made.push_back(std::move(all));
  }
  return made.back();
}

double value_of(const std::string& text, const std::vector<double>& arguments) {
  std::vector<const double*> places;
  for (const double& one : arguments) places.push_back(&one);
  double value = 0;
  Formula::Scratch scratch;
  formula_of(text).evaluate(places, 1, &value, scratch);
  return value;
}

void check_bits(const std::string& text, const std::vector<double>& arguments, double expected) {
  CAPTURE(text);
  CHECK(std::bit_cast<std::uint64_t>(value_of(text, arguments)) == std::bit_cast<std::uint64_t>(expected));
}

std::size_t steps_of(const std::string& text) { return formula_of(text).steps().size(); }

}  // namespace

TEST_CASE("how operators bind") {
  CHECK(parsed("1 + 2 * 3") == "(+ 1 (* 2 3))");
  CHECK(parsed("10 - 3 - 2") == "(- (- 10 3) 2)");
  CHECK(parsed("8 / 4 / 2") == "(/ (/ 8 4) 2)");
  CHECK(parsed("(1 + 2) * 3") == "(* (+ 1 2) 3)");
  CHECK(parsed("-a^2") == "(- (^ a 2))");
  CHECK(parsed("2^3^2") == "(^ 2 (^ 3 2))");
  CHECK(parsed("a^-b*c") == "(* (^ a (- b)) c)");
  CHECK(parsed("-a*b") == "(* (- a) b)");
  CHECK(parsed("- - 3 + +4") == "(+ (- (- 3)) (+ 4))");
  CHECK(parsed("a < b == c") == "(== (< a b) c)");
  CHECK(parsed("a or b and not c > 1") == "(or a (and b (not (> c 1))))");
  CHECK(parsed("a || b && c") == "(or a (and b c))");
  CHECK(parsed("not not a > 1 and b") == "(and (not (not (> a 1))) b)");
  CHECK(parsed("a ? b : c ? d : e") == "(? a b (? c d e))");
  CHECK(parsed("a ? b ? 1 : 2 : c + 1") == "(? a (? b 1 2) (+ c 1))");
  CHECK(parsed("1 + a ? b : c") == "(? (+ 1 a) b c)");
}

TEST_CASE("operands") {
  CHECK(parsed(" $n*.5e-3 ") == "(* $n .5e-3)");
  CHECK(parsed("'my field'.y + \"other\"[12]") == "(+ ([1] my field) ([12] other))");
  CHECK(parsed("f(a, b + 1).z") == "([2] (f a (+ b 1)))");
  CHECK(parsed("f()") == "(f)");
  CHECK(parsed("(a * b)[0]") == "([0] (* a b))");
  CHECK(parsed("or + and") == "(+ or and)");
  CHECK(parsed("of(3d.x, 2)") == "(of (#[0] #3d) 2)");
  CHECK(parsed("of(not)") == "(of #not)");
  CHECK(parsed("max(not a)") == "(max (not a))");
  CHECK(shown(parse_expression("not + 1", {}), 2) == "(+ not 1)");
}

TEST_CASE("places in the text") {
  const std::string text = "2 * (alpha + f(b))";
  const SyntaxTree tree = parse_expression(text, rules);
  const SyntaxNode& product = tree.back();
  const SyntaxNode& sum = tree[product.children[1]];
  const SyntaxNode& call = tree[sum.children[1]];
  CHECK(text.substr(product.begin, product.end - product.begin) == text);
  CHECK(product.at == 2);
  CHECK(text.substr(sum.begin, sum.end - sum.begin) == "(alpha + f(b))");
  CHECK(sum.at == 11);
  CHECK(text.substr(call.begin, call.end - call.begin) == "f(b)");
}

TEST_CASE("mistakes have a kind and a place") {
  const auto is = [](const std::string& text, Fault kind, std::size_t position) {
    CAPTURE(text);
    CHECK(fault(text) == std::pair(kind, position));
  };
  is("", Fault::ends, 0);
  is("a +", Fault::ends, 3);
  is("(a + 1", Fault::unclosed, 0);
  is("2 * f(a", Fault::unclosed, 5);
  is("a 'b", Fault::unclosed_quote, 2);
  is("a b", Fault::operator_missing, 2);
  is("2a", Fault::operator_missing, 1);
  is("a * * b", Fault::operator_found, 4);
  is("a)", Fault::parenthesis_found, 1);
  is("2 (b)", Fault::parenthesis_found, 2);
  is("()", Fault::parenthesis_found, 1);
  is("f(a,)", Fault::parenthesis_found, 4);
  is("a, b", Fault::comma_found, 1);
  is("f(, a)", Fault::comma_found, 2);
  is("a ? b", Fault::conditional, 2);
  is("a : b", Fault::conditional, 2);
  is("a ** b", Fault::unreadable, 2);
  is("a = b", Fault::unreadable, 2);
  is("a.w", Fault::unreadable, 1);
  is("a[1.5]", Fault::index, 1);
  is("a[99999999999]", Fault::index, 1);
  is("a[1", Fault::index, 1);
  is("$1", Fault::unreadable, 0);
  is("a # b", Fault::unreadable, 2);
  is(std::string(300, '('), Fault::too_deep, 200);
  is(std::string(100000, '-') + "1", Fault::too_deep, 200);
  is(std::string((1 << 20) + 1, ' '), Fault::too_long, 0);
}

TEST_CASE("long texts need no deep recursion") {
  std::string sum = "1", chain = "1";
  for (int n = 0; n < 200000; ++n) sum += "+1";
  for (int n = 0; n < 10000; ++n) chain = "a?1:" + chain;
  CHECK(parse_expression(sum, rules).size() == 400001);
  CHECK(value_of(sum, {}) == 200001);
  CHECK(parse_expression(chain, rules).size() == 30001);
  CHECK(value_of("a ? 1 : b ? 2 : c ? 3 : 4", {0, 0, 1}) == 3);
}

TEST_CASE("whatever the text, it is read or refused") {
  const std::string whole = "-2 * of(3d) + f('x'.y, $n ^ 2) > 1 ? not (a[2]) : b and c or 1e5 <= d";
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string text = whole;
    for (int n = 0; n < 3; ++n) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0)
        text[at] = whole[random() % whole.size()];
      else
        text.erase(at, random() % 4);
    }
    try {
      const SyntaxTree tree = parse_expression(text, rules);
      for (std::size_t n = 0; n < tree.size(); ++n) {
        REQUIRE(tree[n].begin < tree[n].end);
        REQUIRE(tree[n].end <= text.size());
        for (const std::size_t child : tree[n].children) REQUIRE(child < n);
      }
    } catch (const SyntaxError& error) {
      REQUIRE(error.position() <= text.size());
    }
  }
}

TEST_CASE("arithmetic of arrays is that of each number") {
  const double a = 0.7, b = -1.3, c = 2.1;
  const std::vector<double> all{a, b, c};
  check_bits("sqrt(a*a+b*b+c*c)", all, std::sqrt(a * a + b * b + c * c));
  check_bits("exp(-a)*sin(b)", all, std::exp(-a) * std::sin(b));
  check_bits("a + b*c", all, a + b * c);
  check_bits("b^2 - c^3 + a^4 + c^5", all, b * b - c * c * c + a * a * a * a + std::pow(c, 5.0));
  check_bits("a > 0.5 && b > 0 ? a : c / b", all, c / b);
  check_bits("not (a < 0.5 or c == 2.1)", all, 0);
  check_bits("min(a, b, c) + max(a, b, c) + sum(a, b, c) + avg(a, b)", all, b + c + (a + b + c) + (a + b) / 2);
  check_bits("rint(a) + sign(b) + abs(b) + log2(c)", all, 1.0 - 1.0 + 1.3 + std::log(c) / std::log(2.0));
  check_bits("atan2(a, b) + ln(c) - log10(c)", all, std::atan2(a, b) + std::log(c) - std::log10(c));
  check_bits("asinh(a)", all, std::log(a + std::sqrt(a * a + 1)));
  check_bits("a / 0", {-1}, -std::numeric_limits<double>::infinity());
  check_bits("0.5 && a", {2}, 1);
}

TEST_CASE("what is simplified, and rounded so") {
  CHECK(steps_of("2 * 3 + sqrt(4)") == 1);
  CHECK(steps_of("1 - 2 * a") == 1);
  CHECK(steps_of("(a + 1) * 3 / 7") == 1);
  CHECK(steps_of("a^2") == 1);
  CHECK(steps_of("a^0") == 1);
  CHECK(steps_of("a^5") == 3);
  CHECK(steps_of("sum(1, 2)") == 3);
  CHECK(steps_of("-(a) + 1") == 4);
  CHECK(steps_of("a + b") == 3);
  const double a = 0.7;
  check_bits("0.1 * a * 3", {a}, a * (0.1 * 3) + 0.0);
  check_bits("1 - 0.3 * a", {a}, a * -0.3 + 1);
  check_bits("(0.1 * a + 0.2) / 3", {a}, a * (0.1 / 3) + 0.2 / 3);
  check_bits("2 * a", {-0.0}, 0.0);  // as -0 * 2 + 0
  check_bits("-a", {0.0}, -0.0);
}

TEST_CASE("the place in an array does not matter") {
  const Formula formula = formula_of("a > 0.5 ? sqrt(a + 2) * b - 1 : exp(b) ^ (a + b) / 3");
  std::vector<double> a, b;
  std::mt19937 random(3);
  for (int n = 0; n < 1000; ++n) {
    a.push_back(static_cast<double>(random() % 1000) * 1e-3);
    b.push_back(static_cast<double>(random() % 1000) * 1e-2);
  }
  Formula::Scratch scratch;
  std::vector<double> whole(1000), one(1);
  formula.evaluate(std::vector<const double*>{a.data(), b.data()}, 1000, whole.data(), scratch);
  for (std::size_t n = 0; n < 1000; ++n) {
    formula.evaluate(std::vector<const double*>{&a[n], &b[n]}, 1, one.data(), scratch);
    REQUIRE(one[0] == whole[n]);
  }
}
