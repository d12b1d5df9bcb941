// The command `import`, which converts files of simulation codes to a database.
#pragma once

#include <string>
#include <vector>

namespace sidestream {

struct ImportOptions {
  std::string format;  ///< ramses, amrex
  std::string directory, target;
  std::vector<std::string> codec{"auto"};
  bool flush = true;
  bool prune = true;  ///< true if trees are stored without the parts that other domains own
};

/// Under mpirun several processes share the work. Returns the exit status; prints a summary.
[[nodiscard]] int import_files(const ImportOptions& options);

}  // namespace sidestream
