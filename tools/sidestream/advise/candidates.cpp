#include "advise/candidates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

constexpr int most_groups = 8;
/// Sizes of groups are chosen in so many parts of the servers, since the choice takes time with their square.
constexpr int most_parts = 128;

/// Numbers of servers that are tried, from 1 to `end` - 1: all up to 64 ranks. Beyond, steps of a sixteenth, also of
/// the ranks that remain for the simulation.
std::set<int> server_counts(int end) {
  std::set<int> counts;
  for (int servers = 1; servers < end; servers += std::max(1, servers / 16)) {
    counts.insert(servers);
    counts.insert(end - servers);
  }
  return counts;
}

double work_of(const TaskCost& cost) { return cost.runs * cost.seconds(1); }

/// Tasks, the one with most work first.
std::vector<TaskCost> heaviest_first(const CostModel& model) {
  std::vector<TaskCost> tasks = model.costs().tasks;
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const TaskCost& a, const TaskCost& b) { return work_of(a) > work_of(b); });
  return tasks;
}

/// Divides tasks among `number` groups: the heaviest ones have a group each, the last group has the rest.
Division divided(const std::vector<TaskCost>& tasks, std::size_t number) {
  Division division;
  for (std::size_t n = 0; n < tasks.size(); ++n) {
    const std::size_t group = std::min(n, number - 1);
    if (division.size() <= group)
      division.emplace_back(n + 1 < tasks.size() && group == number - 1 ? "rest" : tasks[n].name,
                            std::vector<std::string>());
    division[group].second.push_back(tasks[n].name);
  }
  return division;
}

/// The split with groups whose sizes suit the tasks; sizes count on each node where `per_node` is true.
Split with_groups(const CostModel& model, Split split, const Division& division, bool per_node) {
  split.division = division;
  for (const auto& [name, tasks] : division) split.groups.emplace_back(name, 1);
  const int nodes = per_node ? split.nodes : 1, each = split.servers / nodes;
  const int part = (each + most_parts - 1) / most_parts, parts = each / part;
  const std::vector<std::vector<TaskCost>> work = model.costs().work_of(split);
  const std::vector<int> sizes = best_sizes(work, std::vector<int>(division.size(), 0), parts, nodes * part);
  for (std::size_t g = 0; g < sizes.size(); ++g) split.groups[g].second = sizes[g] * part * nodes;
  // The first group has the heaviest task.
  split.groups.front().second += (each - parts * part) * nodes;
  return split;
}

/// Adds a split, and the same with groups.
void add(const CostModel& model, const std::vector<TaskCost>& tasks, const Split& split, bool per_node,
         std::vector<Split>& all) {
  all.push_back(split);
  const int servers = split.servers / (per_node ? split.nodes : 1);
  const std::size_t most = std::min<std::size_t>({tasks.size(), static_cast<std::size_t>(servers), most_groups});
  for (std::size_t number = 2; number <= most; ++number) {
    all.push_back(with_groups(model, split, divided(tasks, number), per_node));
  }
}

bool measured(const CostModel& model, const char* mode) { return model.costs().assembly.contains(mode); }

}  // namespace

std::vector<Split> candidates(const CostModel& model, int ranks, int nodes) {
  if (ranks % nodes != 0) {
    fail(Code::usage, "found {} ranks on {} nodes, expected a multiple of the nodes; give --ranks as the job has them",
         ranks, nodes);
  }
  const std::vector<TaskCost> tasks = heaviest_first(model);
  std::vector<Split> all{{"inline", ranks, ranks, nodes, {}, {}}};
  for (const char* const mode : {"cores", "sidecar"}) {
    if (std::string(mode) == "sidecar" && !measured(model, mode)) continue;
    for (const int each : server_counts(ranks / nodes)) {
      add(model, tasks, {mode, ranks - each * nodes, each * nodes, nodes, {}, {}}, true, all);
    }
  }
  for (const int servers : server_counts(ranks)) {
    add(model, tasks, {"nodes", ranks - servers, servers, nodes, {}, {}}, false, all);
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> placement_options(const Split& split) {
  std::vector<std::pair<std::string, std::string>> options{{"mode", split.mode}};
  const bool per_node = split.mode == "cores" || split.mode == "sidecar";
  if (!split.groups.empty()) {
    std::vector<std::string> sizes;
    for (const auto& [name, size] : split.groups) {
      sizes.push_back(fmt::format("{}: {}", name, per_node ? size / split.nodes : size));
    }
    options.emplace_back("groups", fmt::format("{{{}}}", fmt::join(sizes, ", ")));
  } else if (per_node) {
    options.emplace_back("per_node", std::to_string(split.servers / split.nodes));
  } else if (split.mode == "nodes") {
    options.emplace_back("servers", std::to_string(split.servers));
  }
  return options;
}

std::string placement_text(const Split& split) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : placement_options(split)) parts.push_back(key + ": " + value);
  return parts.size() == 1 ? split.mode : fmt::format("{{{}}}", fmt::join(parts, ", "));
}

}  // namespace sidestream
