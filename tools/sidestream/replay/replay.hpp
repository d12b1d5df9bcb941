// `sidestream replay`: publishes what a database has as if a simulation did, on any number of ranks, at another
// resolution and pace, so that analyses and outputs can be tried without the simulation.
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
  double pace = 0;                 ///< seconds from one iteration to the next
  bool compute = false;            ///< work instead of sleeping
};

/// Collective: all processes under mpirun. Returns the exit status.
[[nodiscard]] int replay(const ReplayOptions& options);

}  // namespace sidestream
