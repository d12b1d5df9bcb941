// What earlier runs took, as their records say.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/group_sizes.hpp"

namespace sidestream {

/// What one run left in `timings.csv`, with `job` its endpoint in `endpoint-timings.csv`.
struct RunTimings {
  std::map<std::string, TaskMeasurement> tasks;  ///< by name: medians over iterations, of the slowest server in each
  std::map<std::string, double> runs;            ///< how often in an iteration
  double simulation = 0;  ///< seconds between two iterations, the median, on the slowest client: without waiting
};

/// Throws Error(file) if the directory has none, Error(configuration) if it is none of this version.
[[nodiscard]] RunTimings timings_of_run(const std::string& directory);

/// Groups and their tasks' names, as the configuration in the record of the run, or its endpoint, divides them; each
/// task a group of its own if it doesn't.
[[nodiscard]] std::vector<std::pair<std::string, std::vector<std::string>>> groups_of_run(const std::string& directory);

}  // namespace sidestream
