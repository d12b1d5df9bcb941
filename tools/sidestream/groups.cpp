#include "commands.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "config/group_sizes.hpp"
#include "config/options/document.hpp"
#include "run_record.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"

namespace sidestream {

namespace {

/// Name of the work of a group besides its tasks, the same for all groups.
constexpr const char* assembly = "assemble";

MeasuredCosts costs_of(const std::vector<std::string>& runs) {
  std::map<std::string, std::vector<TaskMeasurement>> measured;
  std::map<std::string, std::vector<double>> often;
  std::vector<double> steps;
  for (const std::string& run : runs) {
    const RunTimings timings = timings_of_run(run);
    steps.push_back(median(timings.steps));
    for (const auto& [task, times] : timings.tasks) {
      measured[task].push_back({times.servers, median(times.seconds), median(times.local)});
      often[task].push_back(timings.runs_of(times));
    }
  }
  const auto mean = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  MeasuredCosts costs;
  costs.simulation = mean(steps);
  for (const auto& [task, measurements] : measured) {
    TaskCost cost = fitted(task, measurements);
    cost.runs = mean(often.at(task));
    if (task == assembly) {
      costs.assembly = cost;
    } else {
      costs.tasks.push_back(cost);
    }
  }
  return costs;
}

/// Parses `halos=halos,histories`.
Division division_of(const GroupsOptions& options) {
  if (options.groups.empty()) {
    const std::string& run = options.runs.front();
    return groups_of(*parse_document(configuration_of_run(run), run));
  }
  Division groups;
  for (const std::string& text : options.groups) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
      fail(Code::usage, "found --group '{}', expected a name and tasks; write --group halos=halos,merge_tree", text);
    }
    auto& [name, tasks] = groups.emplace_back(text.substr(0, equals), std::vector<std::string>());
    for (std::size_t at = equals + 1; at <= text.size();) {
      const std::size_t end = std::min(text.find(',', at), text.size());
      tasks.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  return groups;
}

std::vector<std::vector<TaskCost>> by_group(const Division& groups, const MeasuredCosts& costs) {
  std::vector<std::vector<TaskCost>> all;
  for (const auto& [name, tasks] : groups) {
    all.push_back({costs.assembly});
    for (const std::string& task : tasks) {
      const TaskCost* const cost = costs.find(task);
      std::vector<std::string> known;
      for (const TaskCost& one : costs.tasks) known.push_back(one.name);
      if (!cost) {
        fail(Code::usage, "found the task '{}' in the group '{}', of which no run has timings, expected one of {}; {}",
             task, name, listed(known), suggestion(task, known, "let it run, or leave it out with --group"));
      }
      all.back().push_back(*cost);
    }
  }
  return all;
}

/// The least number of servers that lets a group work no longer than the simulation computes; 0: no number suffices.
int least_servers(const std::vector<TaskCost>& tasks, double seconds) {
  constexpr int most = 1 << 16;
  for (int servers = 1; servers <= most; ++servers) {
    if (period(tasks, servers) <= seconds) return servers;
  }
  return 0;
}

std::string costs_text(const MeasuredCosts& costs) {
  std::string text = "seconds of each run of a task on p servers: constant + shared / p + doubling * log2(p)\n";
  text += fmt::format("  {:<20} {:>12} {:>12} {:>12} {:>14}\n", "task", "constant", "shared", "doubling",
                      "in an iteration");
  const auto line = [&](const TaskCost& cost) {
    text += fmt::format("  {:<20} {:>12.4g} {:>12.4g} {:>12.4g} {:>15.3g}\n", cost.name, cost.constant, cost.shared,
                        cost.doubling, cost.runs);
  };
  line(costs.assembly);
  for (const TaskCost& cost : costs.tasks) line(cost);
  return text;
}

/// Balance of servers and simulation. The best split has n tau_c = tau_a (Friesen et al., "In situ and in-transit
/// analysis of cosmological simulations", 2016, section 5.3).
std::string balance_text(const Division& groups, const std::vector<std::vector<TaskCost>>& tasks, double simulation,
                         double slowest) {
  std::string text = fmt::format(
      "the simulation computes {:.4g} s an iteration, the slowest group works {:.4g} s: ", simulation, slowest);
  if (slowest <= simulation) return text + "the servers keep up\n";
  text += "the simulation will wait for it; ";
  int all = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const int servers = least_servers(tasks[g], simulation);
    if (servers == 0) {
      return text + fmt::format("no number of servers makes the group '{}' keep up: let it run less often (every)\n",
                                groups[g].first);
    }
    all += servers;
  }
  return text + fmt::format("{} servers would keep up\n", all);
}

}  // namespace

std::string groups(const GroupsOptions& options) {
  MeasuredCosts costs = costs_of(options.runs);
  costs.assembly.name = assembly;
  const Division division = division_of(options);
  const std::vector<std::vector<TaskCost>> tasks = by_group(division, costs);
  if (static_cast<int>(tasks.size()) > options.servers) {
    fail(Code::usage,
         "found {} groups for {} servers, expected at least one server for each; raise --servers or join "
         "groups with --group",
         tasks.size(), options.servers);
  }
  const std::vector<int> sizes = best_sizes(tasks, std::vector<int>(tasks.size(), 0), options.servers);
  std::string text = costs_text(costs), line;
  double slowest = 0;
  std::vector<TaskCost> everything{costs.assembly};
  text += fmt::format("sizes for {} servers\n", options.servers);
  for (std::size_t g = 0; g < tasks.size(); ++g) {
    const double mine = period(tasks[g], sizes[g]);
    slowest = std::max(slowest, mine);
    everything.insert(everything.end(), tasks[g].begin() + 1, tasks[g].end());
    text += fmt::format("  {:<20} {:>5} {:>12.4g} s an iteration\n", division[g].first, sizes[g], mine);
    line += fmt::format("{}{}: {}", g == 0 ? "" : ", ", division[g].first, sizes[g]);
  }
  const double one = period(everything, options.servers);
  text += fmt::format("  {:<20} {:>5} {:>12.4g} s an iteration\n", "all in one group", options.servers, one);
  text += balance_text(division, tasks, costs.simulation, slowest);
  text += fmt::format("groups: {{{}}}\n", line);
  if (!options.output.empty()) {
    replace_file(options.output, text_of(costs));
    text += fmt::format("written: {}\n", options.output);
  }
  return text;
}

}  // namespace sidestream
