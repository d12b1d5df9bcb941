#include "scale/costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {

namespace {

/// A fitted part, with the shared work of all cells.
StatedPart by_cell(const TaskCost& cost, double cells, double speed) {
  return {cost.name, cost.shared / cells / speed, cost.constant / speed, cost.doubling / speed, 0, 0};
}

int servers_of(const Split& split) { return split.dedicated() ? split.servers : split.clients; }

/// Seconds per iteration of the tasks that a run had.
double work_of(const std::vector<StatedPart>& tasks, const MeasuredRun& run, double cells) {
  double sum = 0;
  for (const StatedPart& task : tasks) {
    const auto often = run.often.find(task.name);
    if (often != run.often.end()) sum += often->second * seconds_of(task, cells, servers_of(run.split));
  }
  return sum;
}

}  // namespace

double seconds_of(const StatedPart& part, double cells, int ranks, int boxes) {
  double share = 1.0 / ranks;
  if (boxes > 0) share = std::ceil(static_cast<double>(boxes) / ranks) / boxes;
  if (part.most_ranks > 0) share = std::max(share, 1.0 / part.most_ranks);
  const int all = part.most_ranks > 0 ? std::min(ranks, part.most_ranks) : ranks;
  return part.constant + part.cell * cells * share + part.doubling * std::log2(static_cast<double>(ranks)) +
         part.each_rank * all;
}

ScaleCosts::ScaleCosts(const StatedScale& scale, const std::vector<MeasuredRun>& runs) : file_(scale.file) {
  if (!runs.empty()) {
    fitted_ = std::make_unique<FittedCosts>(runs);
    const double cells = scale.records.cells, speed = scale.machine.speed;
    step_ = by_cell(fitted_->computing, cells, speed);
    for (const TaskCost& cost : fitted_->tasks) tasks_.push_back(by_cell(cost, cells, speed));
  }
  if (!scale.program.step.empty()) step_ = scale.program.step.front();
  for (const StatedPart& stated : scale.program.tasks) {
    const auto known =
        std::find_if(tasks_.begin(), tasks_.end(), [&](const auto& one) { return one.name == stated.name; });
    known == tasks_.end() ? tasks_.push_back(stated) : static_cast<void>(*known = stated);
  }
}

std::vector<StatedPart> ScaleCosts::tasks(const std::vector<std::string>& names) const {
  if (names.empty()) return tasks_;
  std::vector<StatedPart> found;
  std::vector<std::string> known;
  for (const StatedPart& task : tasks_) known.push_back(task.name);
  for (const std::string& name : names) {
    const auto at = std::find(known.begin(), known.end(), name);
    if (at == known.end()) {
      fail(Code::configuration, "{}: found the task '{}', expected one of {}; {}", file_, name, listed(known),
           suggestion(name, known, "state its costs under `program.tasks`, or name runs that have it"));
    }
    found.push_back(tasks_[static_cast<std::size_t>(at - known.begin())]);
  }
  return found;
}

Prediction ScaleCosts::predict(const MeasuredRun& run, double cells) const {
  Prediction result;
  const Split& split = run.split;
  result.simulation = seconds_of(step_, cells, split.clients);
  result.analysis = work_of(tasks_, run, cells);
  if (fitted_) {
    result.simulation += fitted_->calls_of(split.mode).seconds(split.clients);
    result.analysis += fitted_->assembly_of(split.mode).seconds(servers_of(split));
  }
  result.whole = split.dedicated() ? pipelined(result.simulation, result.analysis, run.iterations)
                                   : result.simulation + result.analysis;
  return result;
}

std::vector<MeasuredRun> measured_runs(const std::vector<std::string>& directories) {
  std::vector<MeasuredRun> runs;
  for (const std::string& directory : directories) runs.push_back(measured_run(directory));
  return runs;
}

std::vector<MeasuredRun> without_oversubscription(const std::vector<MeasuredRun>& runs, int cores) {
  std::vector<MeasuredRun> left;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(left), [&](const MeasuredRun& run) {
    return cores == 0 || run.split.clients + (run.split.dedicated() ? run.split.servers : 0) <= cores;
  });
  return left;
}

}  // namespace sidestream
