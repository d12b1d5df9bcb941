// Measurements of an earlier run, from the records in its output directory.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/options/document.hpp"

namespace sidestream {

/// Seconds that a task took, one entry for each iteration in which it ran.
struct TaskTimes {
  int servers = 1;              ///< ranks that ran it
  std::vector<double> seconds;  ///< of the slowest server
  std::vector<double> local;    ///< the largest part that a server did before servers combined
};

/// Times of one run from `timings.csv`; with `job` those of tasks from the endpoint's `endpoint-timings.csv`.
struct RunTimings {
  std::map<std::string, TaskTimes> tasks;  ///< by name; `assemble` is the work besides tasks
  // Entries for each iteration, from its slowest client.
  std::vector<double> steps;       ///< computing and publishing
  std::vector<double> computing;   ///< outside Sidestream
  std::vector<double> publishing;  ///< copies of arrays
  std::vector<double> ending;      ///< in the call that ends an iteration; with `inline` that includes the tasks
  /// Seconds from the first step's start to the end of the last step or of the last task. Servers of `sidecar` and
  /// endpoints have clocks of their own: what they do after the last step is left out.
  double whole = 0;

  [[nodiscard]] std::size_t iterations() const noexcept { return steps.size(); }
  /// Runs of a task per iteration: 0.2 for `every: 5`.
  [[nodiscard]] double runs_of(const TaskTimes& times) const;
};

/// Throws Error(file) if the directory has none, Error(configuration) if it is not of this version.
[[nodiscard]] RunTimings timings_of_run(const std::string& directory);

/// Values that came to all servers in an iteration, on average.
struct RunMovement {
  double bytes = 0, pieces = 0;  ///< without layers of neighbours
};

/// From `movement.csv`; nothing if the run has none.
[[nodiscard]] std::optional<RunMovement> movement_of_run(const std::string& directory);

/// Parts of `run.yaml`.
struct RecordedRun {
  std::string placement;  ///< its mode
  int clients = 0, nodes = 1;
  int servers = 0;            ///< with `job` the endpoint's processes
  std::string configuration;  ///< the text of the configuration
};

/// Throws Error(file) or Error(configuration), as above.
[[nodiscard]] RecordedRun recorded_run(const std::string& directory);

/// The recorded configuration of the run; with `job` the endpoint's, which may be a different one.
[[nodiscard]] std::string configuration_of_run(const std::string& directory);

/// Names of groups and of their tasks.
using Division = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Groups of a configuration, given or not. `given`: whether `placement.groups` names them; otherwise each task that
/// names no group is one of its own.
[[nodiscard]] Division groups_of(const Document& document);

/// The middle value; of an even number, the upper one of both. 0 if there is none.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace sidestream
