#include "run_timings.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "config/options/document.hpp"
#include "config/reserved_file_names.hpp"
#include "config/tasks/tasks.hpp"
#include "loading.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/numbers.hpp"
#include "storage/formats/csv.hpp"

namespace sidestream {

namespace {

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

}  // namespace

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

}  // namespace sidestream
