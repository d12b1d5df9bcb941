// The measurements of each part are fitted by `fitted`, which `sidestream groups` uses, too. A prediction adds the
// parts up for a split; where such a run was measured, its time counts instead. The doubt of a prediction grows with
// the distance to the nearest measured run, in doublings of clients and servers.
#include "advise/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

constexpr const char* assembly_name = "assemble";
/// Relative doubt for each doubling between a split and the nearest run, and for costs of a placement without a run.
constexpr double doubt_by_doubling = 0.05, doubt_by_placement = 0.1, least_doubt = 0.02;

using Measurements = std::vector<TaskMeasurement>;

double doublings(int a, int b) { return std::abs(std::log2(static_cast<double>(std::max(a, 1)) / std::max(b, 1))); }

/// Costs by placement from measurements by placement.
std::map<std::string, TaskCost> fitted_by_mode(const std::string& name,
                                               const std::map<std::string, Measurements>& all) {
  std::map<std::string, TaskCost> costs;
  for (const auto& [mode, measured] : all) costs[mode] = fitted(name, measured);
  return costs;
}

/// The costs of a placement; of one without a run those of another that has dedicated processes, if there is one.
const TaskCost& of_mode(const std::map<std::string, TaskCost>& costs, const std::string& mode) {
  if (const auto found = costs.find(mode); found != costs.end()) return found->second;
  const auto dedicated =
      std::find_if(costs.begin(), costs.end(), [](const auto& one) { return one.first != "inline"; });
  return dedicated != costs.end() ? dedicated->second : costs.begin()->second;
}

/// Sizes of groups are the numbers of servers that ran their tasks: the configuration may say `auto`.
void take_groups(const std::string& configuration, MeasuredRun& run) {
  const auto document = parse_document(configuration, run.directory);
  const Entry* const placement = document->root().find("placement");
  if (placement == nullptr || placement->value.find("groups") == nullptr) return;
  run.split.division = groups_of(*document);
  for (const auto& [name, tasks] : run.split.division) {
    int servers = 1;
    for (const std::string& task : tasks) {
      if (const auto found = run.tasks.find(task); found != run.tasks.end()) servers = found->second.servers;
    }
    run.split.groups.emplace_back(name, servers);
  }
}

}  // namespace

double steady_mean(std::vector<double> values) {
  if (values.empty()) return 0;
  const double most = 3 * median(values);
  double sum = 0;
  for (const double value : values) sum += std::min(value, most);
  return sum / static_cast<double>(values.size());
}

MeasuredRun measured_run(const std::string& directory) {
  const RecordedRun facts = recorded_run(directory);
  const RunTimings timings = timings_of_run(directory);
  MeasuredRun run;
  run.directory = directory;
  run.split = {facts.placement, facts.clients, facts.servers, std::max(facts.nodes, 1), {}, {}};
  if (!run.split.dedicated()) run.split.servers = facts.clients;
  run.iterations = timings.iterations();
  if (run.iterations == 0) fail(Code::usage, "{}: found no iteration, expected the timings of a run", directory);
  run.computing = steady_mean(timings.computing);
  // The end of an iteration with `inline` is the tasks, which are counted by themselves.
  run.calls = steady_mean(timings.publishing) + (run.split.dedicated() ? steady_mean(timings.ending) : 0);
  for (const auto& [name, times] : timings.tasks) {
    run.tasks[name] = {times.servers, steady_mean(times.seconds), steady_mean(times.local)};
    run.often[name] = timings.runs_of(times);
  }
  run.whole = timings.whole / static_cast<double>(run.iterations);
  if (const std::optional<RunMovement> movement = movement_of_run(directory)) run.moved = movement->bytes;
  take_groups(facts.configuration, run);
  return run;
}

FittedCosts::FittedCosts(const std::vector<MeasuredRun>& runs) {
  std::map<std::string, Measurements> called, besides, by_task;
  std::map<std::string, double> often;
  Measurements steps;
  for (const MeasuredRun& run : runs) {
    const std::string& mode = run.split.mode;
    steps.push_back({run.split.clients, run.computing, run.computing});
    called[mode].push_back({run.split.clients, run.calls, run.calls});
    const bool assembled = run.tasks.contains(assembly_name);
    besides[mode].push_back(assembled ? run.tasks.at(assembly_name) : TaskMeasurement{run.split.servers, 0, 0});
    for (const auto& [name, measurement] : run.tasks) {
      if (name == assembly_name) continue;
      by_task[name].push_back(measurement);
      // Runs that refused or skipped iterations say less of how often a task is due.
      often[name] = std::max(often[name], run.often.at(name));
    }
  }
  computing = fitted("computing", steps);
  calls = fitted_by_mode("calls", called);
  assembly = fitted_by_mode(assembly_name, besides);
  for (const auto& [name, measured] : by_task) {
    tasks.push_back(fitted(name, measured));
    tasks.back().runs = often.at(name);
  }
}

double pipelined(double simulation, double analysis, std::size_t iterations) {
  const double ends = static_cast<double>(std::max<std::size_t>(iterations, 1));
  return std::max(simulation, analysis) + std::min(simulation, analysis) / ends;
}

const TaskCost& FittedCosts::assembly_of(const std::string& mode) const { return of_mode(assembly, mode); }

const TaskCost& FittedCosts::calls_of(const std::string& mode) const { return of_mode(calls, mode); }

std::vector<std::vector<TaskCost>> FittedCosts::work_of(const Split& split) const {
  if (split.groups.empty()) {
    std::vector<TaskCost> all = tasks;
    all.push_back(assembly_of(split.mode));
    return {all};
  }
  std::vector<std::vector<TaskCost>> work;
  for (const auto& [name, size] : split.groups) {
    work.push_back({assembly_of(split.mode)});
    for (const auto& [group, names] : split.division) {
      if (group != name) continue;
      std::copy_if(tasks.begin(), tasks.end(), std::back_inserter(work.back()), [&](const TaskCost& cost) {
        return std::find(names.begin(), names.end(), cost.name) != names.end();
      });
    }
  }
  return work;
}

Prediction FittedCosts::of(const Split& split, std::size_t iterations) const {
  Prediction result;
  const std::vector<std::vector<TaskCost>> work = work_of(split);
  for (std::size_t g = 0; g < work.size(); ++g) {
    const int servers = split.groups.empty() ? split.servers : split.groups[g].second;
    result.analysis = std::max(result.analysis, period(work[g], servers));
    double together = 0;
    for (const TaskCost& cost : work[g]) together += cost.seconds(servers);
    result.longest = std::max(result.longest, together);
  }
  result.simulation = computing.seconds(split.clients) + calls_of(split.mode).seconds(split.clients);
  result.assumed = !assembly.contains(split.mode);
  result.whole = split.dedicated() ? pipelined(result.simulation, result.analysis, iterations)
                                   : result.simulation + result.analysis;
  return result;
}

CostModel::CostModel(std::vector<MeasuredRun> runs) : runs_(std::move(runs)), costs_(runs_) {
  error_ = error_of_each();
}

Prediction CostModel::predict(const Split& split, std::size_t iterations) const {
  Prediction result = costs_.of(split, iterations);
  std::vector<double> times;
  for (const MeasuredRun& run : runs_) {
    if (run.split == split) times.push_back(run.whole);
  }
  result.measured = !times.empty();
  if (result.measured) {
    result.whole = median(times);
    result.doubt = least_doubt;
  } else {
    result.doubt =
        std::max(least_doubt, error_) + doubt_by_doubling * distance(split) + (result.assumed ? doubt_by_placement : 0);
  }
  return result;
}

double CostModel::distance(const Split& split) const {
  double least = std::numeric_limits<double>::infinity();
  for (const MeasuredRun& run : runs_) {
    least = std::min(least, doublings(split.clients, run.split.clients) + doublings(split.servers, run.split.servers));
  }
  return least;
}

double CostModel::rest() const {
  std::vector<double> ratios;
  for (const MeasuredRun& run : runs_) {
    const double predicted = costs_.of(run.split, run.iterations).whole;
    if (predicted > 0) ratios.push_back(run.whole / predicted);
  }
  return ratios.empty() ? 1 : median(ratios);
}

double CostModel::error_of_each() const {
  if (runs_.size() < 3) return 0;
  std::vector<double> errors;
  for (std::size_t without = 0; without < runs_.size(); ++without) {
    std::vector<MeasuredRun> others = runs_;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(without));
    const MeasuredRun& run = runs_[without];
    const double predicted = FittedCosts(others).of(run.split, run.iterations).whole;
    errors.push_back(run.whole > 0 ? std::abs(predicted / run.whole - 1) : 0);
  }
  return median(errors);
}

bool CostModel::scales_simulation() const {
  std::set<int> numbers;
  for (const MeasuredRun& run : runs_) numbers.insert(run.split.clients);
  return numbers.size() > 1;
}

bool CostModel::scales_tasks() const {
  std::set<int> numbers;
  for (const MeasuredRun& run : runs_) numbers.insert(run.split.servers);
  return numbers.size() > 1;
}

}  // namespace sidestream
