// Conditions on values given by hand, and mistakes in conditions.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "config/expressions/condition.hpp"
#include "sidestream/error.hpp"

using namespace sidestream;

namespace {

Metadata metadata() {
  Metadata all;
  Mesh mesh;
  mesh.id = 0;
  mesh.name = "grid";
  all.meshes.push_back(mesh);
  for (const char* name : {"t", "my-field", "velocity"}) {
    Variable variable;
    variable.id = static_cast<std::int32_t>(all.variables.size());
    variable.name = name;
    variable.mesh = 0;
    variable.components = std::string(name) == "velocity" ? 3 : 1;
    all.variables.push_back(variable);
  }
  return all;
}

const Metadata declared = metadata();
const Parameters parameters{{"limit", std::int64_t{500}}, {"half", 0.5}};

Condition make(const std::string& text) {
  return {text, ExpressionContext{parameters, Stage::start}, declared, "'when'", {"run.yaml", 3, 10}};
}

/// True if the condition holds for statistics, in the order of the text. An empty `before` means that there are no
/// earlier ones.
bool holds(const std::string& text, std::vector<double> now, std::vector<double> before = {}) {
  const Condition condition = make(text);
  REQUIRE(condition.statistics().size() == now.size());
  std::vector<Facts> facts{{{5, 50, 0.5}, now}};
  if (!before.empty()) facts.push_back({{4, 40, 0.4}, before});
  return condition.holds(facts);
}

/// The same for one statistic, of iteration 5 and as many earlier ones as there are values.
bool holds_over_time(const std::string& text, std::vector<double> values) {
  std::vector<Facts> facts;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const auto index = 5 - static_cast<std::int64_t>(n);
    facts.push_back({{index, 10 * index, 0.5 * static_cast<double>(index)}, std::span(values).subspan(n, 1)});
  }
  return make(text).holds(facts);
}

std::string mistake(const std::string& text) {
  try {
    static_cast<void>(make(text));
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

const double not_known = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("comparisons and their joints") {
  CHECK(holds("max(t) > 500", {501}));
  CHECK(!holds("max(t) > 500", {500}));
  CHECK(holds("max(t) >= $limit", {500}));
  CHECK(holds("500 <= max(t) and max(t) <= 500", {500}));
  CHECK(holds("max(t) == 500", {500}));
  CHECK(!holds("max(t) != 500", {500}));
  CHECK(holds("max(t) != 500", {499}));
  CHECK(holds("max(t) < 1 or min(t) < 1 and mean(t) < 1", {0, 5, 5}));  // `and` binds closer
  CHECK(!holds("(max(t) < 1 or min(t) < 1) and mean(t) < 1", {0, 5, 5}));
  CHECK(holds("not max(t) > 3", {2}));
  CHECK(holds("not not max(t) > 3", {4}));
  CHECK(holds("not max(t) > 3 and min(t) > 0", {2, 1}));
}

TEST_CASE("arithmetic") {
  CHECK(holds("2 + 3 * max(t) == 14", {4}));
  CHECK(holds("(2 + 3) * max(t) == 20", {4}));
  CHECK(holds("-max(t) == -4 and - -4 == max(t)", {4}));
  CHECK(holds("10 - 3 - 2 == 5", {}));
  CHECK(holds("8 / 4 / 2 == 1 and 1 / 2 == $half", {}));
  CHECK(holds("abs(min(t)) == 3", {-3}));
  CHECK(holds("max(t) > 1e-3 and max(t) < .01", {0.005}));
  CHECK(holds("iteration == 5 and cycle == 50 and time == 0.5", {}));
}

TEST_CASE("the signs of other expressions") {
  CHECK(holds("max(t) > 1 && min(t) < 1 || cycle == 50", {0, 0}));
  CHECK(holds("max(velocity.z) > max(velocity[1]) and max(\"t\") == 1", {3, 2, 1}));
  CHECK(make("max(velocity.z) > 0 or max(velocity, 2) < 0").statistics().size() == 1);
}

TEST_CASE("statistics are asked for once") {
  const Condition condition = make("max(t) > 1 and max(velocity, 2) > max(t) or sum('my-field') > 0");
  CHECK(condition.statistics() == std::vector<Statistic>{{Statistic::What::maximum, 0, 0},
                                                         {Statistic::What::maximum, 2, 2},
                                                         {Statistic::What::sum, 1, 0}});
}

TEST_CASE("the iteration before") {
  CHECK(holds("change(max(t)) > 1", {5}, {3}));
  CHECK(!holds("change(max(t)) > 1", {5}, {4}));
  CHECK(holds("previous(max(t)) < 4 and max(t) >= 4", {4}, {3}));
  CHECK(holds("change(max(t) - min(t)) == 1", {5, 1}, {4, 1}));
  CHECK(holds("change(cycle) == 10 and previous(iteration) == 4", {}, {0}));
  CHECK(!holds("change(max(t)) > 1", {5}));
  CHECK(!holds("previous(max(t)) <= 1 or previous(max(t)) >= 1 or previous(max(t)) != 1", {5}));
}

TEST_CASE("several iterations back") {
  const std::vector<double> values{7, 5, 2, 1};
  CHECK(holds_over_time("previous(max(t), 1) == 5 and previous(max(t), 2) == 2 and previous(max(t), 3) == 1", values));
  CHECK(holds_over_time("change(max(t), 2) == 5 and change(max(t)) == 2", values));
  CHECK(holds_over_time("rate(max(t)) == 4 and rate(max(t), 3) == 4 and rate(max(t), 2) == 5", values));
  CHECK(holds_over_time("previous(max(t) - time, 2) == 0.5 and previous(iteration, 3) == 2", values));
  CHECK(!holds_over_time("previous(max(t), 4) < 9 or previous(max(t), 4) >= 9", values));
  CHECK(!holds_over_time("change(max(t), 4) < 9 or rate(max(t), 4) < 9", values));
  CHECK(make("previous(max(t), 4) > 1 or change(cycle, 7) > 1").depth() == 7);
  CHECK(make("max(t) > 1").depth() == 0);
  const std::vector<Facts> same_time{{{5, 5, 0.5}, std::span(values).first(1)},
                                     {{4, 4, 0.5}, std::span(values).last(1)}};
  CHECK(!make("rate(max(t)) > 0").holds(same_time));  // no time has passed
}

TEST_CASE("statistics with a parameter") {
  const Condition condition = make(
      "nan(t) > 0 or infinite(velocity.y) > 0 or quantile(t, $half) > 1 or entropy(velocity[2], 64) < 1 or "
      "sqrt(min(t)) > 2");
  CHECK(condition.statistics() == std::vector<Statistic>{{Statistic::What::nan, 0, 0},
                                                         {Statistic::What::infinite, 2, 1},
                                                         {Statistic::What::quantile, 0, 0, 0.5},
                                                         {Statistic::What::entropy, 2, 2, 64},
                                                         {Statistic::What::minimum, 0, 0}});
  CHECK(make("quantile(t, 0.1) > 0 or quantile(t, 0.2) > 0 or quantile(t, 0.1) < 9").statistics().size() == 2);
  CHECK(make("at_max(t, x) > at_min(velocity.z, y)").statistics() ==
        std::vector<Statistic>{{Statistic::What::at_max, 0, 0, 0}, {Statistic::What::at_min, 2, 2, 1}});
}

TEST_CASE("comparisons with unknown statistics are false") {
  for (const char* sign : {"<", "<=", ">", ">=", "==", "!="}) {
    CHECK(!holds(std::string("max(t) ") + sign + " 1", {not_known}));
    CHECK(!holds(std::string("1 ") + sign + " max(t)", {not_known}));
  }
  CHECK(holds("not max(t) > 1", {not_known}));
  CHECK(holds("max(t) > 1 or cycle > 1", {not_known}));
}

TEST_CASE("mistakes have a place and a remedy") {
  const auto says = [](const std::string& text, const std::string& part) {
    INFO(text << ": " << mistake(text));
    return mistake(text).find(part) != std::string::npos;
  };
  CHECK(says("max(t)", "run.yaml:3:10: found 'max(t)' for 'when', which is a number and no condition; compare it"));
  CHECK(says("max(u) > 1", "run.yaml:3:14: found the unknown variable 'u' for 'when', expected one of t, my-field"));
  CHECK(says("max(velocty) > 1", "did you mean 'velocity'?"));
  CHECK(says("t > 1", "found only the variable 't' for 'when', expected a statistic of it; write max(t)"));
  CHECK(says("maximum(t) > 1", "found 'maximum' for 'when', expected one of previous, change"));
  CHECK(says("maxx(t) > 1", "did you mean 'max'?"));
  CHECK(says("max(velocity, 3) > 1", "expected a component of 'velocity', 0 to 2"));
  CHECK(says("max(t, -1) > 1", "expected a component of 't', 0 to 0"));
  CHECK(says("max(t) > 1 and", "which ends too early"));
  CHECK(says("", "which ends too early"));
  CHECK(says("max(t) > 1 max(t)", "where 'max(t)' cannot be read"));
  CHECK(says("max(t) > 1 and max(t)", "in which 'and' stands beside a number"));
  CHECK(says("1 + (max(t) > 1) > 0", "in which '+' stands beside a condition"));
  CHECK(says("1 < max(t) < 3",
             "run.yaml:3:21: found '1 < max(t) < 3' for 'when', in which '<' stands beside a condition"));
  CHECK(says("max(t)^2 > 3", "where '^2 > 3' cannot be read"));
  CHECK(says("max(t + 1) > 3", "where '+ 1) > 3' cannot be read"));
  CHECK(says("max(t) > 3 ? 1 : 0", "where '? 1 : 0' cannot be read"));
  CHECK(says("t.x > 3", "found only the variable 't'"));
  CHECK(says("max(velocity.x, 2) > 3", "cannot be read"));
  CHECK(says("max(t[1]) > 3", "expected a component of 't', 0 to 0"));
  CHECK(says("max > 3", "where '> 3' cannot be read"));
  CHECK(says("max() > 3", "where '() > 3' cannot be read"));
  CHECK(says("abs(max(t), 2) > 3", "cannot be read"));
  CHECK(says("not max(t)", "in which 'not' stands beside a number"));
  CHECK(says("max(t) > 1e999", "where '1e999' cannot be read"));
  CHECK(says("change(previous(max(t))) > 1", "looks back from an earlier iteration"));
  CHECK(says("previous(max(t), 0) > 1", "found '0' for 'when', expected a whole number of iterations to look back"));
  CHECK(says("previous(max(t), 1001) > 1", "1 to 1000"));
  CHECK(says("previous(max(t), cycle) > 1", "found 'cycle'"));
  CHECK(says("previous(max(t), 1, 2) > 1", "cannot be read"));
  CHECK(says("quantile(t) > 1", "cannot be read"));
  CHECK(says("quantile(t, 1.5) > 1", "run.yaml:3:22: found '1.5' for 'when', expected a share of the values, 0 to 1"));
  CHECK(says("entropy(t, 0.5) > 1", "expected a whole number of intervals, 1 to 65536"));
  CHECK(says("at_max(t, 1) > 1", "expected an axis, x, y or z; write it as in 'at_max(temperature, x)'"));
  CHECK(says("at_max(t, w) > 1", "found 'w'"));
  CHECK(says("sqrt(max(t), 2) > 1", "cannot be read"));
  CHECK(says("max(t) > $limits", "did you mean '$limit'?"));
  CHECK(says("max('t) > 1", "cannot be read"));
  std::string terms = "cycle > 0";
  for (int n = 0; n < 50000; ++n) terms += " or cycle > 0";
  CHECK(says(terms, "found a text of 650009 characters for 'when', expected at most 16384"));
  CHECK(holds(terms.substr(0, 9 + 13 * 1259), {}));
  CHECK(says(std::string(300, '(') + "1", "more than 200 nested"));
  CHECK(says(std::string(1000, '-') + "1 > 0", "more than 200 nested"));
  std::string negations;
  for (int n = 0; n < 300; ++n) negations += "not ";
  CHECK(says(negations + "1 > 0", "more than 200 nested"));
}
