// `sidestream groups`: how many servers each group should have.
#pragma once

#include <string>
#include <vector>

namespace sidestream {

struct GroupsOptions {
  std::vector<std::string> runs;    ///< output directories of earlier runs
  int servers = 0;                  ///< in all
  std::vector<std::string> groups;  ///< NAME=TASK,TASK; empty: as the runs' configuration has them
  std::string output;               ///< file for `placement.measured`; empty: none
};

/// What was measured, the sizes, and what they lead to. Throws Error(file) or Error(configuration).
[[nodiscard]] std::string groups(const GroupsOptions& options);

}  // namespace sidestream
