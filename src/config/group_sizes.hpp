// Sizes of server groups, chosen from measurements of earlier runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/tasks/tasks.hpp"

namespace sidestream {

/// Cost model of a task on p servers, in seconds per run: constant + shared / p + doubling * log2(p). `shared`: work
/// divided among servers; `constant`: combining independent of their number; `doubling`: combining that grows with it.
struct TaskCost {
  std::string name;
  double constant = 0, shared = 0, doubling = 0;
  double runs = 1;  ///< runs per iteration: 0.2 for `every: 5`

  [[nodiscard]] double seconds(int servers) const;
};

/// Content of the file written by `sidestream groups`.
struct MeasuredCosts {
  std::vector<TaskCost> tasks;
  TaskCost assembly;      ///< cost in every group and iteration besides the tasks
  double simulation = 0;  ///< seconds between two iterations without waiting for servers

  /// Costs of the task of this name; null if it was not measured.
  [[nodiscard]] const TaskCost* find(const std::string& name) const;
};

/// A measurement: `seconds` per run on `servers` servers. `local`: the part that each did by itself; -1: unknown.
struct TaskMeasurement {
  int servers = 1;
  double seconds = 0, local = -1;
};

/// Fits the model to measurements with several numbers of servers: least squares without negative terms. With one
/// number of servers, the local part counts as perfectly shared and the rest as constant.
[[nodiscard]] TaskCost fitted(const std::string& name, const std::vector<TaskMeasurement>& measured);

[[nodiscard]] std::string text_of(const MeasuredCosts& costs);
/// Throws Error(configuration) if the text is not an output of `text_of`.
[[nodiscard]] MeasuredCosts read_costs(const std::string& text, const std::string& file);

/// Average seconds that a group of `servers` servers works per iteration.
[[nodiscard]] double period(const std::vector<TaskCost>& tasks, int servers);

/// Chooses sizes of groups that add up to `servers` and minimise the period of the slowest group. `groups`: the tasks
/// of each group. `fixed`: the size of each group; 0: to be chosen. `nodes`: number of nodes; a size is counted on each
/// node. Takes O(groups * servers^2) steps.
[[nodiscard]] std::vector<int> best_sizes(const std::vector<std::vector<TaskCost>>& groups,
                                          const std::vector<int>& fixed, int servers, int nodes = 1);

/// Properties of a task that are needed to predict the work of its group.
struct GroupedTask {
  std::string name;
  std::size_t group = 0;
  Location where;
};

[[nodiscard]] std::vector<GroupedTask> grouped(const std::vector<TaskConfig>& tasks);
/// Throws Error(configuration) for a group that does not exist.
[[nodiscard]] std::vector<GroupedTask> grouped(const std::vector<WrittenTask>& tasks,
                                               const std::vector<ServerGroup>& groups);

/// The costs of the tasks of each group. Throws Error(configuration) for a task that was not measured.
[[nodiscard]] std::vector<std::vector<TaskCost>> costs_by_group(const std::vector<ServerGroup>& groups,
                                                                const std::vector<GroupedTask>& tasks,
                                                                const MeasuredCosts& costs);

/// Replaces sizes that are `auto`; `servers`: number on each of `nodes` nodes.
void choose_sizes(std::vector<ServerGroup>& groups, const std::vector<GroupedTask>& tasks, const MeasuredCosts& costs,
                  int servers, int nodes);

}  // namespace sidestream
