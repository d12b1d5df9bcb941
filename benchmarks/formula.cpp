// Times of the arithmetic of derived variables: the steps of Formula, and the same formula as a compiled loop.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/expressions/formula.hpp"
#include "measure.hpp"

using namespace sidestream;

namespace {

constexpr std::size_t count = std::size_t{1} << 18;
constexpr std::int64_t line = 64;  // points that servers compute at once

using Arrays = std::vector<std::vector<double>>;

/// The formula of a text with the arguments a, b, c.
Formula formula_of(const char* text) {
  const std::vector<std::size_t> same{0, 1, 2};
  std::vector<Formula> made;
  for (const SyntaxNode& node : parse_expression(text, {})) {
    using Kind = SyntaxNode::Kind;
    if (node.kind == Kind::number) {
      made.push_back(Formula::of_constant(real_number(node.text).value()));
    } else if (node.kind == Kind::name) {
      made.push_back(Formula::of_argument(static_cast<std::size_t>(node.text[0] - 'a')));
    } else {
      Formula all = made[node.children[0]];
      for (std::size_t n = 1; n < node.children.size(); ++n) all.append(made[node.children[n]], same);
      if (node.kind == Kind::unary) all.apply_unary(node.sign);
      if (node.kind == Kind::binary) all.apply_binary(node.sign);
      if (node.kind == Kind::conditional) all.choose();
      if (node.kind == Kind::call) all.apply(*find_number_function(node.text), node.children.size());
      made.push_back(std::move(all));
    }
  }
  return made.back();
}

/// Prints the times of a formula, and last their ratio.
template <class Loop>
void compare(const char* text, const Arrays& in, Loop loop) {
  const Formula formula = formula_of(text);
  Formula::Scratch scratch;
  std::vector<double> ours(count), theirs(count), formula_times, loop_times;
  for (int round = 0; round < 15; ++round) {
    formula_times.push_back(benchmark::processor_microseconds([&] {
      for (std::size_t n = 0; n < count; n += line) {
        const std::vector<const double*> places{&in[0][n], &in[1][n], &in[2][n]};
        formula.evaluate(places, line, &ours[n], scratch);
      }
    }));
    loop_times.push_back(benchmark::processor_microseconds([&] {
      for (std::size_t n = 0; n < count; ++n) theirs[n] = loop(in[0][n], in[1][n], in[2][n]);
    }));
  }
  const double each = 1e3 / static_cast<double>(count);
  const double mine = benchmark::quantile(formula_times, 0.5) * each;
  const double loops = benchmark::quantile(loop_times, 0.5) * each;
  const bool same = std::memcmp(ours.data(), theirs.data(), count * sizeof(double)) == 0;
  std::printf("%-24s %6.2f ns a value, compiled loop %6.2f ns, %s: ratio %.2f\n", text, mine, loops,
              same ? "the same bits" : "OTHER BITS", mine / loops);
}

}  // namespace

int main() {
  Arrays in(3, std::vector<double>(count));
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t n = 0; n < count; ++n) in[k][n] = 0.1 + static_cast<double>(n * (k + 3) % 1009) * 1e-3;
  }
  compare("sqrt(a*a + b*b + c*c)", in, [](double a, double b, double c) { return std::sqrt(a * a + b * b + c * c); });
  compare("a + b * c", in, [](double a, double b, double c) { return a + b * c; });
  compare("exp(-a) * sin(b)", in, [](double a, double b, double) { return std::exp(-a) * std::sin(b); });
  compare("0.5 * a * (b^2 + c^2)", in, [](double a, double b, double c) { return 0.5 * a * (b * b + c * c); });
  compare("a > 0.3 ? b : c", in, [](double a, double b, double c) { return a > 0.3 ? b : c; });
}
