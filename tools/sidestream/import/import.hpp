// The command `import`: files of simulation codes become a database.
#pragma once

#include <string>
#include <vector>

namespace sidestream {

struct ImportOptions {
  std::string format;  ///< ramses, amrex
  std::string directory, target;
  std::vector<std::string> codec{"auto"};
  bool flush = true;
  bool prune = true;  ///< trees are stored without what other domains own
};

/// Under mpirun several processes share the work. Returns the exit status; prints what became of the files.
[[nodiscard]] int import_files(const ImportOptions& options);

}  // namespace sidestream
