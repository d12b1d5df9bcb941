// Sizes of groups from measured costs of tasks.
//
// 1. fitted: seconds on p servers = constant + shared / p + doubling * log2(p), by least squares. All subsets of the
//    terms are tried, since costs are never negative; the best fit wins.
// 2. best_sizes: dynamic programming over groups. best[g][n] is the smallest possible time of the slowest of the first
//    g groups with n servers together; ties go to the smaller sum.
#include "config/group_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "config/groups.hpp"
#include "config/options/document.hpp"
#include "sidestream/kit/base/numbers.hpp"

namespace sidestream {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

std::array<double, 3> terms(int servers) { return {1, 1.0 / servers, std::log2(static_cast<double>(servers))}; }

/// Solves the least-squares problem with the terms of the bits in `use`, by the normal equations. Returns false if they
/// do not determine it, or a term is negative.
bool solve(const std::vector<TaskMeasurement>& measured, unsigned use, std::array<double, 3>& found) {
  std::array<std::array<double, 4>, 3> a{};
  for (const TaskMeasurement& one : measured) {
    const std::array<double, 3> t = terms(one.servers);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) a[i][j] += ((use >> i) & (use >> j) & 1) != 0 ? t[i] * t[j] : 0;
      a[i][3] += ((use >> i) & 1) != 0 ? t[i] * one.seconds : 0;
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (((use >> i) & 1) == 0) a[i][i] = 1;  // the result is 0
  }
  for (std::size_t i = 0; i < 3; ++i) {
    std::size_t best = i;
    for (std::size_t k = i + 1; k < 3; ++k) best = std::abs(a[k][i]) > std::abs(a[best][i]) ? k : best;
    std::swap(a[i], a[best]);
    if (std::abs(a[i][i]) < 1e-12) return false;
    for (std::size_t k = 0; k < 3; ++k) {
      const double factor = k == i ? 0 : a[k][i] / a[i][i];
      for (std::size_t j = i; j < 4; ++j) a[k][j] -= factor * a[i][j];
    }
  }
  for (std::size_t i = 0; i < 3; ++i) found[i] = a[i][3] / a[i][i];
  return std::all_of(found.begin(), found.end(), [](double term) { return term >= -1e-12; });
}

double residual(const std::vector<TaskMeasurement>& measured, const std::array<double, 3>& found) {
  double sum = 0;
  for (const TaskMeasurement& one : measured) {
    const std::array<double, 3> t = terms(one.servers);
    const double off = found[0] * t[0] + found[1] * t[1] + found[2] * t[2] - one.seconds;
    sum += off * off;
  }
  return sum;
}

/// One number of servers gives no scaling, but the part that each server did by itself.
TaskCost from_one(const std::string& name, const std::vector<TaskMeasurement>& measured) {
  double seconds = 0, local = 0;
  for (const TaskMeasurement& one : measured) {
    seconds += one.seconds / static_cast<double>(measured.size());
    local += (one.local < 0 ? one.seconds : std::min(one.local, one.seconds)) / static_cast<double>(measured.size());
  }
  TaskCost cost;
  cost.name = name;
  cost.shared = local * measured.front().servers;
  cost.constant = seconds - local;
  return cost;
}

double number_of(const Node& map, const char* key, double otherwise) {
  const Entry* entry = map.find(key);
  if (entry == nullptr) return otherwise;
  const std::optional<double> value = real_of(entry->value.text);
  if (entry->value.kind == Node::Kind::scalar && value && *value >= 0 && std::isfinite(*value)) return *value;
  fail_at(entry->value.where, "found {} for '{}', expected a number from 0; write the file with `sidestream groups`",
          entry->value.description(), key);
}

TaskCost cost_of(const std::string& name, const Node& node) {
  if (node.kind != Node::Kind::map) {
    fail_at(node.where, "found {} for '{}', expected a map of numbers; write the file with `sidestream groups`",
            node.description(), name);
  }
  return {name, number_of(node, "constant", 0), number_of(node, "shared", 0), number_of(node, "doubling", 0),
          number_of(node, "runs", 1)};
}

std::string cost_text(const TaskCost& cost) {
  return fmt::format("{{constant: {:.6g}, shared: {:.6g}, doubling: {:.6g}, runs: {:.6g}}}", cost.constant, cost.shared,
                     cost.doubling, cost.runs);
}

std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) text += (c == '"' || c == '\\') ? std::string("\\") + c : std::string(1, c);
  return text + "\"";
}

}  // namespace

double TaskCost::seconds(int servers) const {
  const std::array<double, 3> t = terms(servers);
  return constant * t[0] + shared * t[1] + doubling * t[2];
}

const TaskCost* MeasuredCosts::find(const std::string& name) const {
  const auto found = std::find_if(tasks.begin(), tasks.end(), [&](const TaskCost& cost) { return cost.name == name; });
  return found == tasks.end() ? nullptr : &*found;
}

TaskCost fitted(const std::string& name, const std::vector<TaskMeasurement>& measured) {
  std::set<int> numbers;
  for (const TaskMeasurement& one : measured) numbers.insert(one.servers);
  if (numbers.empty()) fail(Code::internal, "'{}' has no measurement", name);
  if (numbers.size() == 1) return from_one(name, measured);
  // There are few terms, so all subsets are tried. The best has the least residual without a negative term, with at
  // most as many terms as there are different numbers of servers.
  std::array<double, 3> best{};
  double least = never;
  constexpr std::array<unsigned, 7> subsets{0b010, 0b001, 0b100, 0b011, 0b110, 0b101, 0b111};
  for (const unsigned use : subsets) {
    if (static_cast<std::size_t>(std::popcount(use)) > numbers.size()) continue;
    std::array<double, 3> found{};
    if (!solve(measured, use, found)) continue;
    const double off = residual(measured, found);
    if (off < least * (1 - 1e-9)) {
      least = off;
      best = found;
    }
  }
  TaskCost cost;
  cost.name = name;
  cost.constant = std::max(0.0, best[0]);
  cost.shared = std::max(0.0, best[1]);
  cost.doubling = std::max(0.0, best[2]);
  return cost;
}

std::string text_of(const MeasuredCosts& costs) {
  std::string text =
      "# Written by `sidestream groups`: seconds of each run of a task on p servers are\n"
      "# constant + shared / p + doubling * log2(p); `runs` is how often it runs in an iteration.\n";
  text += fmt::format("simulation: {:.6g}\nassembly: {}\ntasks:\n", costs.simulation, cost_text(costs.assembly));
  for (const TaskCost& cost : costs.tasks) text += fmt::format("  {}: {}\n", quoted(cost.name), cost_text(cost));
  return text;
}

MeasuredCosts read_costs(const std::string& text, const std::string& file) {
  const Node root = parse_node(text, file);
  const Entry* const tasks = root.kind == Node::Kind::map ? root.find("tasks") : nullptr;
  if (tasks == nullptr || tasks->value.kind != Node::Kind::map) {
    fail(Code::configuration, "{}: found no 'tasks', expected what tasks cost; write the file with `sidestream groups`",
         file);
  }
  MeasuredCosts costs;
  for (const Entry& entry : tasks->value.entries) costs.tasks.push_back(cost_of(entry.key, entry.value));
  if (const Entry* assembly = root.find("assembly")) costs.assembly = cost_of("assemble", assembly->value);
  costs.simulation = number_of(root, "simulation", 0);
  return costs;
}

double period(const std::vector<TaskCost>& tasks, int servers) {
  double sum = 0;
  for (const TaskCost& cost : tasks) sum += cost.runs * cost.seconds(servers);
  return sum;
}

std::vector<int> best_sizes(const std::vector<std::vector<TaskCost>>& groups, const std::vector<int>& fixed,
                            int servers, int nodes) {
  struct Best {
    double slowest = never, sum = 0;
    int size = 0;
  };
  const auto all = static_cast<std::size_t>(servers);
  // best[g][n]: the best sizes of groups 0 to g - 1 with n servers together.
  std::vector<std::vector<Best>> best(groups.size() + 1, std::vector<Best>(all + 1));
  best[0][0].slowest = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (std::size_t size = 1; size <= all; ++size) {
      if (fixed[g] > 0 && size != static_cast<std::size_t>(fixed[g])) continue;
      const double mine = period(groups[g], static_cast<int>(size) * nodes);
      for (std::size_t n = size; n <= all; ++n) {
        const Best& before = best[g][n - size];
        const Best now{std::max(before.slowest, mine), before.sum + mine, static_cast<int>(size)};
        Best& known = best[g + 1][n];
        if (before.slowest == never || std::pair(known.slowest, known.sum) <= std::pair(now.slowest, now.sum)) continue;
        known = now;
      }
    }
  }
  std::vector<int> sizes(groups.size());
  std::size_t left = all;
  for (std::size_t g = groups.size(); g > 0; --g) {
    if (best[g][left].slowest == never) fail(Code::internal, "{} groups do not fit {} servers", groups.size(), servers);
    sizes[g - 1] = best[g][left].size;
    left -= static_cast<std::size_t>(sizes[g - 1]);
  }
  return sizes;
}

std::vector<GroupedTask> grouped(const std::vector<TaskConfig>& tasks) {
  std::vector<GroupedTask> all;
  // Those that use a made mesh run, and are measured, as part of the analysis that makes it.
  for (const TaskConfig& task : tasks) {
    if (task.uses < 0) all.push_back({task.name, task.group, task.settings.where()});
  }
  return all;
}

std::vector<GroupedTask> grouped(const std::vector<WrittenTask>& tasks, const std::vector<ServerGroup>& groups) {
  std::vector<GroupedTask> all;
  for (const WrittenTask& task : tasks) {
    const std::size_t group = task.group.empty() ? 0 : group_named(groups, task.group, task.where);
    all.push_back({task.name, group, task.where});
  }
  return all;
}

std::vector<std::vector<TaskCost>> costs_by_group(const std::vector<ServerGroup>& groups,
                                                  const std::vector<GroupedTask>& tasks, const MeasuredCosts& costs) {
  std::vector<std::vector<TaskCost>> by_group(groups.size(), {costs.assembly});
  for (const GroupedTask& task : tasks) {
    const TaskCost* const cost = costs.find(task.name);
    if (cost == nullptr) {
      fail_at(
          task.where,
          "found no costs of '{}' in the measurements, expected those of a run with it; measure it with `sidestream "
          "groups`, or write the sizes of the groups",
          task.name);
    }
    by_group.at(task.group).push_back(*cost);
  }
  return by_group;
}

void choose_sizes(std::vector<ServerGroup>& groups, const std::vector<GroupedTask>& tasks, const MeasuredCosts& costs,
                  int servers, int nodes) {
  std::vector<int> fixed;
  for (const ServerGroup& group : groups) fixed.push_back(group.size);
  const std::vector<int> sizes = best_sizes(costs_by_group(groups, tasks, costs), fixed, servers, nodes);
  for (std::size_t g = 0; g < groups.size(); ++g) groups[g].size = sizes[g];
}

}  // namespace sidestream
