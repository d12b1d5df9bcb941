#include "commands.hpp"

#include <fmt/format.h>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "config/group_sizes.hpp"
#include "config/options/document.hpp"
#include "config/reserved_file_names.hpp"
#include "config/tasks/tasks.hpp"
#include "loading.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"
#include "sidestream/kit/base/numbers.hpp"
#include "storage/files/output_file.hpp"
#include "storage/formats/csv.hpp"

namespace sidestream {

namespace {

// Measurements of earlier runs, from their records.

/// Times of one run from `timings.csv`, with `job` from the endpoint's `endpoint-timings.csv`.
struct RunTimings {
  std::map<std::string, TaskMeasurement> tasks;  ///< by name: medians over iterations, of the slowest server in each
  std::map<std::string, double> runs;            ///< runs per iteration
  double simulation = 0;  ///< seconds between two iterations without waiting: the median, on the slowest client
};

/// Throws Error(file) if the directory has none, Error(configuration) if it is not of this version.
[[nodiscard]] RunTimings timings_of_run(const std::string& directory);

/// Groups and their tasks' names in the recorded configuration of the run or its endpoint. Without groups there, each
/// task is a group of its own.
[[nodiscard]] std::vector<std::pair<std::string, std::vector<std::string>>> groups_of_run(const std::string& directory);

std::string in(const std::string& directory, const char* file) {
  return (std::filesystem::path(directory) / file).string();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Cells of a line; names with commas are quoted, as by csv_field.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t n = 0; n < line.size(); ++n) {
    const char c = line[n];
    if (quoted && c == '"' && n + 1 < line.size() && line[n + 1] == '"') {
      cells.back() += line[++n];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

double cell_number(const std::string& cell) { return real_of(cell).value_or(-1); }

/// Times of the slowest server in an iteration.
struct Slowest {
  double seconds = 0, local = -1;
};

/// Accumulates rows, then evaluates them.
class Gathering {
 public:
  void add(const std::vector<std::string>& row) {
    const std::string& iteration = row[2];
    if (row[1] == "client") {
      double& slowest = clients_[iteration];
      slowest = std::max(slowest, cell_number(row[4]) + cell_number(row[5]));
      return;
    }
    const std::string& task = row[8];
    Slowest& slowest = work_[task][iteration];
    slowest.seconds = std::max(slowest.seconds, cell_number(row[9]));
    slowest.local = std::max(slowest.local, cell_number(row[4]));
    ranks_[task].insert(row[0]);
  }
  [[nodiscard]] RunTimings timings() const {
    RunTimings all;
    std::vector<double> steps;
    for (const auto& [iteration, seconds] : clients_) steps.push_back(seconds);
    all.simulation = median(steps);
    const std::set<std::string> not_tasks{"idle", "agree"};
    for (const auto& [task, iterations] : work_) {
      if (not_tasks.contains(task)) continue;
      std::vector<double> seconds, local;
      for (const auto& [iteration, slowest] : iterations) {
        seconds.push_back(slowest.seconds);
        local.push_back(slowest.local);
      }
      all.tasks[task] = {static_cast<int>(ranks_.at(task).size()), median(seconds), median(local)};
      const auto steps_taken = static_cast<double>(std::max<std::size_t>(clients_.size(), iterations.size()));
      all.runs[task] = static_cast<double>(iterations.size()) / steps_taken;
    }
    return all;
  }

 private:
  std::map<std::string, double> clients_;                       ///< by iteration
  std::map<std::string, std::map<std::string, Slowest>> work_;  ///< by task, then iteration
  std::map<std::string, std::set<std::string>> ranks_;          ///< ranks that ran the task
};

bool has(const std::string& directory, const char* file) {
  std::error_code ignored;
  return std::filesystem::exists(in(directory, file), ignored);
}

/// `clients_only`: servers that send to another job run no tasks.
void gather(const std::string& path, bool clients_only, Gathering& gathering) {
  const std::string text = read_text(path, "the timings of a run");
  bool header = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::vector<std::string> row = cells_of(text.substr(at, end - at));
    at = end + 1;
    constexpr std::size_t columns = 10;
    if (row.size() != columns || (header && row.back() != "seconds")) {
      fail(Code::configuration,
           "{}: found a line of {} columns, expected the {} of a run's timings; give the output "
           "directory of a run of this version",
           path, row.size(), columns);
    }
    if (!header && !(clients_only && row[1] != "client")) gathering.add(row);
    header = false;
  }
}

RunTimings timings_of_run(const std::string& directory) {
  Gathering gathering;
  const bool job = has(directory, own_files::endpoint_timings);
  if (job) gather(in(directory, own_files::endpoint_timings), false, gathering);
  if (!job || has(directory, own_files::run_timings)) gather(in(directory, own_files::run_timings), job, gathering);
  const char* const clients = own_files::clients_timings;  // written by a simulation with `sidecar`
  if (has(directory, clients)) gather(in(directory, clients), true, gathering);
  return gathering.timings();
}

std::vector<std::pair<std::string, std::vector<std::string>>> groups_of_run(const std::string& directory) {
  const bool job = has(directory, own_files::endpoint_record);  // its configuration may be a different one
  const std::string path = in(directory, job ? own_files::endpoint_record : own_files::run_record);
  const Node record = parse_node(read_text(path, "the record of a run"), path);
  const Entry* const text = record.find("configuration");
  if (text == nullptr) fail(Code::configuration, "{}: found no 'configuration', expected the record of a run", path);
  const auto document = parse_document(text->value.text, path);
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  const auto group_named = [&](const std::string& name) -> std::vector<std::string>& {
    for (auto& [known, tasks] : groups) {
      if (known == name) return tasks;
    }
    return groups.emplace_back(name, std::vector<std::string>()).second;
  };
  const Entry* const placement = document->root().find("placement");
  const Entry* const given = placement ? placement->value.find("groups") : nullptr;
  if (given) {
    for (const Entry& entry : given->value.entries) static_cast<void>(group_named(entry.key));
  }
  for (const WrittenTask& task : written_tasks(*document)) {
    const bool named = !task.group.empty();
    group_named(named ? task.group : given && !groups.empty() ? groups.front().first : task.name).push_back(task.name);
  }
  return groups;
}

using Division = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Name of the work of a group besides its tasks, the same for all groups.
constexpr const char* assembly = "assemble";

MeasuredCosts costs_of(const std::vector<std::string>& runs) {
  std::map<std::string, std::vector<TaskMeasurement>> measured;
  std::map<std::string, std::vector<double>> often;
  std::vector<double> steps;
  for (const std::string& run : runs) {
    const RunTimings timings = timings_of_run(run);
    steps.push_back(timings.simulation);
    for (const auto& [task, measurement] : timings.tasks) {
      measured[task].push_back(measurement);
      often[task].push_back(timings.runs.at(task));
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
  if (options.groups.empty()) return groups_of_run(options.runs.front());
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

/// The least number of servers with which a group works no longer than the simulation computes; 0: no number suffices.
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
