// `sidestream groups`: chooses the number of servers of each group.
#pragma once

#include <string>
#include <vector>

namespace sidestream {

struct GroupsOptions {
  std::vector<std::string> runs;    ///< output directories of earlier runs
  int servers = 0;                  ///< total number
  std::vector<std::string> groups;  ///< NAME=TASK,TASK; empty: as in the runs' configuration
  std::string output;               ///< file for `placement.measured`; empty: none
};

/// Reports measurements, sizes and predicted times. Throws Error(file) or Error(configuration).
[[nodiscard]] std::string groups(const GroupsOptions& options);

}  // namespace sidestream
