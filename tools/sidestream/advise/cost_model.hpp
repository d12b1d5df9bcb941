// Predicts how long a simulation and its analyses take in a placement, from measurements of other runs.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/group_sizes.hpp"
#include "run_record.hpp"

namespace sidestream {

/// A placement and a split of the ranks.
struct Split {
  std::string mode;  ///< inline, cores, nodes, sidecar or job
  int clients = 1;
  int servers = 0;  ///< on all nodes together; `inline`: as many as clients
  int nodes = 1;
  std::vector<std::pair<std::string, int>>
      groups;         ///< sizes of groups on all nodes together; empty: all run everything
  Division division;  ///< tasks of the groups

  [[nodiscard]] bool dedicated() const noexcept { return mode != "inline"; }
  friend bool operator==(const Split& a, const Split& b) {
    return a.mode == b.mode && a.clients == b.clients && a.servers == b.servers && a.groups == b.groups;
  }
};

/// Seconds per iteration.
struct Prediction {
  double simulation = 0;  ///< computing and publishing
  double analysis = 0;    ///< work of the servers, of the slowest group; `inline`: of the ranks
  double longest = 0;     ///< the same in an iteration in which all tasks are due
  double whole = 0;       ///< of the run, divided by its iterations
  double doubt = 0;       ///< relative standard error of `whole`
  bool measured = false;  ///< `whole` is the time of such a run
  bool assumed = false;   ///< no run had this placement: its costs besides the tasks are taken from others
};

/// A run, in the terms of the model.
struct MeasuredRun {
  std::string directory;
  Split split;
  std::size_t iterations = 0;
  double computing = 0, calls = 0;               ///< seconds per iteration: outside Sidestream; copies and ends
  std::map<std::string, TaskMeasurement> tasks;  ///< seconds per run of the task
  std::map<std::string, double> often;           ///< runs of the task per iteration
  double whole = 0;                              ///< seconds per iteration
  double moved = 0;                              ///< bytes per iteration that came to servers; 0: unknown
};

[[nodiscard]] MeasuredRun measured_run(const std::string& directory);

/// The mean of values, each counted as at most three times their median: single disturbances from outside do not
/// matter, but work in every tenth iteration does.
[[nodiscard]] double steady_mean(std::vector<double> values);

/// Seconds per iteration of a run of `iterations`, in which simulation and servers work at the same time: the slower
/// one sets the pace, and once per run nothing hides the other.
[[nodiscard]] double pipelined(double simulation, double analysis, std::size_t iterations);

/// The parts of a run, each as constant + shared / p + doubling * log2(p) seconds on p ranks.
struct FittedCosts {
  TaskCost computing;                               ///< by clients
  std::map<std::string, TaskCost> calls, assembly;  ///< by placement: of clients; work of servers besides tasks
  std::vector<TaskCost> tasks;                      ///< by servers

  explicit FittedCosts(const std::vector<MeasuredRun>& runs);
  /// A placement without a run gets the costs of another with dedicated processes, if there is one.
  [[nodiscard]] const TaskCost& assembly_of(const std::string& mode) const;
  [[nodiscard]] const TaskCost& calls_of(const std::string& mode) const;
  /// Tasks of each group of a split, each with the work besides them.
  [[nodiscard]] std::vector<std::vector<TaskCost>> work_of(const Split& split) const;
  /// Everything but `doubt`.
  [[nodiscard]] Prediction of(const Split& split, std::size_t iterations) const;
};

/// The model: a simulation that publishes and servers that analyse form a pipeline, and its slower part sets the pace
/// (Friesen et al., "In situ and in-transit analysis of cosmological simulations", 2016, section 5.2: n tau_c against
/// tau_a). With `inline` both take turns.
class CostModel {
 public:
  explicit CostModel(std::vector<MeasuredRun> runs);

  /// `iterations`: of the whole run; the pipeline is filled and emptied once.
  [[nodiscard]] Prediction predict(const Split& split, std::size_t iterations) const;

  [[nodiscard]] const std::vector<MeasuredRun>& runs() const noexcept { return runs_; }
  [[nodiscard]] const FittedCosts& costs() const noexcept { return costs_; }
  /// The median error of predicting each run from the others; 0 for fewer than three runs.
  [[nodiscard]] double typical_error() const noexcept { return error_; }
  /// True if runs had several numbers of clients, or servers: then scaling is measured, not assumed.
  [[nodiscard]] bool scales_simulation() const;
  [[nodiscard]] bool scales_tasks() const;

 private:
  [[nodiscard]] double distance(const Split& split) const;
  /// Times of runs include effects that the costs leave out, such as disturbances: the median of measured / predicted.
  [[nodiscard]] double rest() const;
  [[nodiscard]] double error_of_each() const;

  std::vector<MeasuredRun> runs_;
  FittedCosts costs_;
  double rest_ = 1, error_ = 0;
};

}  // namespace sidestream
