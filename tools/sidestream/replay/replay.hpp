// `sidestream replay`: publishes the content of a database as a simulation would, on any number of ranks, at another
// resolution and pace. So analyses and outputs can be tried without the simulation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sidestream {

struct ReplayOptions {
  std::string directory, file;
  std::vector<std::string> values;  ///< NAME=VALUE
  std::int64_t coarsen = 1, refine = 1;
  std::string blocks = "divided";  ///< or `stored`
  std::int64_t iterations = 0;     ///< 0: each context once
  double pace = 0;                 ///< seconds between iterations
  bool compute = false;            ///< compute instead of sleeping
};

/// Collective over all processes under mpirun. Returns the exit status.
[[nodiscard]] int replay(const ReplayOptions& options);

}  // namespace sidestream
