// How many servers each group should have, from what earlier runs took.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/tasks/tasks.hpp"

namespace sidestream {

/// What a task takes on p servers, in seconds each time it runs: constant + shared / p + doubling * log2(p). Work that
/// servers share, what they combine whatever their number, and what grows with it.
struct TaskCost {
  std::string name;
  double constant = 0, shared = 0, doubling = 0;
  double runs = 1;  ///< times an iteration: 0.2 for `every: 5`

  [[nodiscard]] double seconds(int servers) const;
};

/// What `sidestream groups` writes.
struct MeasuredCosts {
  std::vector<TaskCost> tasks;
  TaskCost assembly;      ///< of what any group needs, each iteration
  double simulation = 0;  ///< seconds between two iterations, without waiting for servers

  /// Of the task of this name; null if it was not measured.
  [[nodiscard]] const TaskCost* find(const std::string& name) const;
};

/// A measurement: `seconds` each time it runs on `servers` servers. `local`: of these, what each did by itself; -1: not
/// known.
struct TaskMeasurement {
  int servers = 1;
  double seconds = 0, local = -1;
};

/// The curve through measurements with several numbers of servers: least squares, no term below 0. With one number the
/// local part is taken to be shared perfectly and the rest to be constant.
[[nodiscard]] TaskCost fitted(const std::string& name, const std::vector<TaskMeasurement>& measured);

[[nodiscard]] std::string text_of(const MeasuredCosts& costs);
/// Throws Error(configuration) if the text is not what `text_of` writes.
[[nodiscard]] MeasuredCosts read_costs(const std::string& text, const std::string& file);

/// Seconds that a group of `servers` servers works for an iteration, on average.
[[nodiscard]] double period(const std::vector<TaskCost>& tasks, int servers);

/// Sizes of groups, of which each entry of `groups` has the tasks, that add up to `servers`, with the least period of
/// the slowest group. `fixed`: by group; 0: to be chosen. `nodes`: a size counts on each of so many. Takes groups x
/// servers^2 steps.
[[nodiscard]] std::vector<int> best_sizes(const std::vector<std::vector<TaskCost>>& groups,
                                          const std::vector<int>& fixed, int servers, int nodes = 1);

/// What is to be known of a task to say how long its group works.
struct GroupedTask {
  std::string name;
  std::size_t group = 0;
  Location where;
};

[[nodiscard]] std::vector<GroupedTask> grouped(const std::vector<TaskConfig>& tasks);
/// Throws Error(configuration) for a group that is not there.
[[nodiscard]] std::vector<GroupedTask> grouped(const std::vector<WrittenTask>& tasks,
                                               const std::vector<ServerGroup>& groups);

/// The costs of the tasks of each group. Throws Error(configuration) for a task that was not measured.
[[nodiscard]] std::vector<std::vector<TaskCost>> costs_by_group(const std::vector<ServerGroup>& groups,
                                                                const std::vector<GroupedTask>& tasks,
                                                                const MeasuredCosts& costs);

/// Puts sizes in place of `auto`; `servers` on each of `nodes` nodes.
void choose_sizes(std::vector<ServerGroup>& groups, const std::vector<GroupedTask>& tasks, const MeasuredCosts& costs,
                  int servers, int nodes);

}  // namespace sidestream
