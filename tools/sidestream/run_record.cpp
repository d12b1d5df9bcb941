#include "run_record.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include "config/reserved_file_names.hpp"
#include "config/tasks/tasks.hpp"
#include "loading.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/numbers.hpp"

namespace sidestream {

namespace {

std::string in(const std::string& directory, const char* file) {
  return (std::filesystem::path(directory) / file).string();
}

bool has(const std::string& directory, const char* file) {
  std::error_code ignored;
  return std::filesystem::exists(in(directory, file), ignored);
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

/// Columns of `timings.csv`.
enum Column { rank, role, iteration, start, compute, publish, wait, end, task, seconds, columns };

double number(const std::vector<std::string>& row, Column column) { return real_of(row[column]).value_or(-1); }

/// Times of the slowest server in an iteration.
struct Slowest {
  double seconds = 0, local = -1;
};

/// Times of the slowest client in an iteration, each its own.
struct SlowestClient {
  double step = 0, compute = 0, publish = 0, end = 0;
};

/// Accumulates rows, then evaluates them.
class Gathering {
 public:
  /// `own_clock`: the row's times count from another start than the clients'.
  void add(const std::vector<std::string>& row, bool own_clock) {
    row[role] == "client" ? add_client(row) : add_server(row, own_clock);
  }

  [[nodiscard]] RunTimings timings() const {
    RunTimings all;
    for (const auto& [when, slowest] : clients_) {
      all.steps.push_back(slowest.step);
      all.computing.push_back(slowest.compute);
      all.publishing.push_back(slowest.publish);
      all.ending.push_back(slowest.end);
    }
    for (const auto& [name, iterations] : work_) {
      if (name == "idle" || name == "agree") continue;  // no work
      TaskTimes& times = all.tasks[name];
      times.servers = static_cast<int>(ranks_.at(name).size());
      for (const auto& [when, slowest] : iterations) {
        times.seconds.push_back(slowest.seconds);
        times.local.push_back(slowest.local);
      }
    }
    all.whole = clients_.empty() ? 0 : std::max(0.0, last_ - first_);
    return all;
  }

 private:
  void add_client(const std::vector<std::string>& row) {
    SlowestClient& slowest = clients_[row[iteration]];
    const double computed = number(row, compute), published = number(row, publish), ended = number(row, end);
    slowest.step = std::max(slowest.step, computed + published);
    slowest.compute = std::max(slowest.compute, computed);
    slowest.publish = std::max(slowest.publish, published);
    slowest.end = std::max(slowest.end, ended);
    first_ = std::min(first_, number(row, start));
    last_ = std::max(last_, number(row, start) + computed + published + number(row, wait) + ended);
  }

  void add_server(const std::vector<std::string>& row, bool own_clock) {
    const std::string& name = row[task];
    Slowest& slowest = work_[name][row[iteration]];
    slowest.seconds = std::max(slowest.seconds, number(row, seconds));
    slowest.local = std::max(slowest.local, number(row, compute));
    ranks_[name].insert(row[rank]);
    if (!own_clock && name != "idle") last_ = std::max(last_, number(row, start) + number(row, seconds));
  }

  std::map<std::string, SlowestClient> clients_;                ///< by iteration
  std::map<std::string, std::map<std::string, Slowest>> work_;  ///< by task, then iteration
  std::map<std::string, std::set<std::string>> ranks_;          ///< ranks that ran the task
  double first_ = std::numeric_limits<double>::infinity(), last_ = 0;
};

/// Refuses a row with a cell that is neither empty nor a number: a damaged file must not become advice.
void check_numbers(const std::vector<std::string>& row, const std::string& path, std::size_t line) {
  constexpr std::array names{"start", "compute", "publish", "wait", "end", "task", "seconds"};
  for (std::size_t column = start; column < columns; ++column) {
    if (column == task || row[column].empty()) continue;
    const double value = real_of(row[column]).value_or(-1);
    if (value >= 0 && std::isfinite(value)) continue;
    fail(Code::configuration,
         "{}:{}: found '{}' in the column '{}', expected seconds; the file is damaged: give another run, or remove "
         "the line",
         path, line, row[column], names[column - start]);
  }
}

/// `clients_only`: servers that send to another job run no tasks.
void gather(const std::string& path, bool clients_only, bool own_clock, Gathering& gathering) {
  const std::string text = read_text(path, "the timings of a run");
  bool header = true;
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = std::min(text.find('\n', at), text.size());
    const std::vector<std::string> row = cells_of(text.substr(at, stop - at));
    at = stop + 1;
    ++line;
    if (row.size() != columns || (header && row.back() != "seconds")) {
      fail(Code::configuration,
           "{}: found a line of {} columns, expected the {} of a run's timings; give the output "
           "directory of a run of this version",
           path, row.size(), static_cast<int>(columns));
    }
    if (!header) check_numbers(row, path, line);
    if (!header && !(clients_only && row[role] != "client")) gathering.add(row, own_clock);
    header = false;
  }
}

Node record_of(const std::string& path) { return parse_node(read_text(path, "the record of a run"), path); }

const std::string& entry_of(const Node& record, const char* key, const std::string& path) {
  const Entry* const entry = record.find(key);
  if (entry == nullptr) {
    fail(Code::configuration, "{}: found no '{}', expected the record of a run", path, key);
  }
  return entry->value.text;
}

int count_of(const Node& record, const char* key, const std::string& path) {
  const std::optional<double> value = real_of(entry_of(record, key, path));
  return value ? static_cast<int>(*value) : 0;
}

}  // namespace

double RunTimings::runs_of(const TaskTimes& times) const {
  const std::size_t taken = std::max(iterations(), times.seconds.size());
  return static_cast<double>(times.seconds.size()) / static_cast<double>(std::max<std::size_t>(taken, 1));
}

RunTimings timings_of_run(const std::string& directory) {
  Gathering gathering;
  const bool job = has(directory, own_files::endpoint_timings);
  const char* const clients = own_files::clients_timings;  // written by a simulation with `sidecar`
  const bool sidecar = has(directory, clients);
  if (job) gather(in(directory, own_files::endpoint_timings), false, true, gathering);
  if (!job || has(directory, own_files::run_timings)) {
    gather(in(directory, own_files::run_timings), job, sidecar, gathering);
  }
  if (sidecar) gather(in(directory, clients), true, false, gathering);
  return gathering.timings();
}

std::optional<RunMovement> movement_of_run(const std::string& directory) {
  if (!has(directory, own_files::run_movement)) return std::nullopt;
  const std::string text = read_text(in(directory, own_files::run_movement), "what moved in a run");
  enum { rank, role, iteration, blocks, bytes, columns };
  std::set<std::string> iterations;
  RunMovement all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = std::min(text.find('\n', at), text.size());
    const std::vector<std::string> row = cells_of(text.substr(at, stop - at));
    at = stop + 1;
    if (row.size() < columns || row[role] != "server") continue;
    iterations.insert(row[iteration]);
    all.pieces += real_of(row[blocks]).value_or(0);
    all.bytes += real_of(row[bytes]).value_or(0);
  }
  if (iterations.empty()) return std::nullopt;
  const auto count = static_cast<double>(iterations.size());
  return RunMovement{all.bytes / count, all.pieces / count};
}

RecordedRun recorded_run(const std::string& directory) {
  const std::string path = in(directory, own_files::run_record);
  const Node record = record_of(path);
  RecordedRun run;
  run.placement = entry_of(record, "placement", path);
  run.clients = count_of(record, "clients", path);
  run.nodes = count_of(record, "nodes", path);
  run.servers = count_of(record, "servers", path);
  run.configuration = configuration_of_run(directory);
  // The servers of a job only send; the endpoint's processes run the tasks.
  if (has(directory, own_files::endpoint_record)) {
    const std::string endpoint = in(directory, own_files::endpoint_record);
    run.servers = count_of(record_of(endpoint), "servers", endpoint);
  }
  return run;
}

std::string configuration_of_run(const std::string& directory) {
  const bool job = has(directory, own_files::endpoint_record);
  const std::string path = in(directory, job ? own_files::endpoint_record : own_files::run_record);
  return entry_of(record_of(path), "configuration", path);
}

Division groups_of(const Document& document) {
  Division groups;
  const auto group_named = [&](const std::string& name) -> std::vector<std::string>& {
    for (auto& [known, tasks] : groups) {
      if (known == name) return tasks;
    }
    return groups.emplace_back(name, std::vector<std::string>()).second;
  };
  const Entry* const placement = document.root().find("placement");
  const Entry* const given = placement ? placement->value.find("groups") : nullptr;
  if (given) {
    for (const Entry& entry : given->value.entries) static_cast<void>(group_named(entry.key));
  }
  for (const WrittenTask& written : written_tasks(document)) {
    const bool named = !written.group.empty();
    group_named(named                      ? written.group
                : given && !groups.empty() ? groups.front().first
                                           : written.name)
        .push_back(written.name);
  }
  return groups;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace sidestream
