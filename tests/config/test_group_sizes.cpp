// Curves through measurements, and the sizes of groups that follow from them, compared with a search through all sizes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "config/group_sizes.hpp"
#include "support/message_of.hpp"

using namespace sidestream;

namespace {

TaskMeasurement at(int servers, double constant, double shared, double doubling) {
  return {servers, constant + shared / servers + doubling * std::log2(servers), -1};
}

double slowest(const std::vector<std::vector<TaskCost>>& groups, const std::vector<int>& sizes) {
  double most = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) most = std::max(most, period(groups[g], sizes[g]));
  return most;
}

/// Tries all ways to divide `left` servers among the groups from `from` on.
double brute(const std::vector<std::vector<TaskCost>>& groups, std::vector<int>& sizes, std::size_t from, int left) {
  if (from + 1 == groups.size()) {
    sizes[from] = left;
    return slowest(groups, sizes);
  }
  double best = std::numeric_limits<double>::infinity();
  const int others = static_cast<int>(groups.size() - from) - 1;
  for (int size = 1; size + others <= left; ++size) {
    sizes[from] = size;
    best = std::min(best, brute(groups, sizes, from + 1, left - size));
  }
  return best;
}

}  // namespace

TEST_CASE("curves come back from points on them") {
  const TaskCost cost =
      fitted("t", {at(1, 0.5, 8, 0.25), at(2, 0.5, 8, 0.25), at(4, 0.5, 8, 0.25), at(8, 0.5, 8, 0.25)});
  CHECK(cost.constant == doctest::Approx(0.5));
  CHECK(cost.shared == doctest::Approx(8));
  CHECK(cost.doubling == doctest::Approx(0.25));
  CHECK(cost.seconds(16) == doctest::Approx(0.5 + 0.5 + 1));
}

TEST_CASE("two numbers of servers determine two terms, and no term is negative") {
  const TaskCost two = fitted("t", {at(1, 0, 6, 0), at(3, 0, 6, 0)});
  CHECK(two.shared == doctest::Approx(6));
  CHECK(two.constant == doctest::Approx(0).epsilon(1e-9));
  // Faster than perfect scaling: a curve through both points would have a negative term.
  const TaskCost better = fitted("t", {{1, 6, -1}, {3, 1, -1}});
  CHECK(better.constant >= 0);
  CHECK(better.shared >= 0);
  CHECK(better.doubling >= 0);
  CHECK(better.seconds(1) == doctest::Approx(6).epsilon(0.2));
}

TEST_CASE("one number of servers: the local part is shared, the rest is not") {
  const TaskCost cost = fitted("t", {{4, 3, 2}, {4, 5, 4}});
  CHECK(cost.shared == doctest::Approx(12));
  CHECK(cost.constant == doctest::Approx(1));
  CHECK(cost.doubling == 0);
  CHECK(fitted("t", {{4, 3, -1}}).shared == doctest::Approx(12));  // the other terms are unknown
}

TEST_CASE("sizes are those that a search finds") {
  std::mt19937 random(17);
  std::uniform_real_distribution<double> some(0, 2);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::vector<TaskCost>> groups(1 + random() % 3);
    for (auto& tasks : groups) {
      for (std::size_t n = 0; n < 1 + random() % 2; ++n) {
        tasks.push_back({"t", some(random) / 4, 4 * some(random), some(random) / 8, random() % 2 ? 1 : 0.2});
      }
    }
    const int servers = static_cast<int>(groups.size() + random() % 9);
    const std::vector<int> sizes = best_sizes(groups, std::vector<int>(groups.size(), 0), servers);
    int sum = 0;
    for (const int size : sizes) {
      CHECK(size >= 1);
      sum += size;
    }
    CHECK(sum == servers);
    std::vector<int> all(groups.size());
    CHECK(slowest(groups, sizes) == doctest::Approx(brute(groups, all, 0, servers)));
  }
}

TEST_CASE("fixed sizes stay") {
  const std::vector<std::vector<TaskCost>> groups{{{"a", 0, 1, 0, 1}}, {{"b", 0, 9, 0, 1}}, {{"c", 0, 3, 0, 1}}};
  const std::vector<int> sizes = best_sizes(groups, {3, 0, 0}, 11);
  CHECK(sizes == std::vector<int>{3, 6, 2});
  CHECK(best_sizes(groups, {0, 0, 0}, 13) == std::vector<int>{1, 9, 3});
}

TEST_CASE("values that are written can be read") {
  MeasuredCosts costs;
  costs.tasks = {{"halos", 0.25, 1.5, 0, 1}, {"a \"task\", odd: name", 0, 2, 0.125, 0.2}};
  costs.assembly = {"assemble", 0.5, 0.25, 0, 1};
  costs.simulation = 3.5;
  const MeasuredCosts again = read_costs(text_of(costs), "costs.yaml");
  REQUIRE(again.tasks.size() == 2);
  for (const TaskCost& cost : costs.tasks) {
    const TaskCost* const read = again.find(cost.name);
    REQUIRE(read);
    CHECK(read->constant == cost.constant);
    CHECK(read->shared == cost.shared);
    CHECK(read->doubling == cost.doubling);
    CHECK(read->runs == cost.runs);
  }
  CHECK(again.assembly.constant == 0.5);
  CHECK(again.simulation == 3.5);
  CHECK(again.find("none") == nullptr);
}

TEST_CASE("other files get a sentence with the place") {
  const auto sentence = [](const char* text) {
    return testing::message_of([&] { static_cast<void>(read_costs(text, "costs.yaml")); });
  };
  CHECK(sentence("a: 1").find("costs.yaml: found no 'tasks'") != std::string::npos);
  CHECK(sentence("tasks: {halos: 3}").find("costs.yaml:1:") != std::string::npos);
  CHECK(sentence("tasks: {halos: {constant: x}}").find("expected a number from 0") != std::string::npos);
  CHECK(sentence("tasks: {halos: {shared: -1}}").find("expected a number from 0") != std::string::npos);
}
