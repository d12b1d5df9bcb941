// Measurements of earlier runs, from their records.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/group_sizes.hpp"

namespace sidestream {

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

}  // namespace sidestream
