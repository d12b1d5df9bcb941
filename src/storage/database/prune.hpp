// Removing contexts by hand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sidestream::database {

struct Pruned {
  std::vector<std::uint64_t> contexts;  ///< slots that were removed
  std::vector<std::string> files;       ///< that were deleted, or would be
  std::uint64_t bytes = 0;              ///< that these have
  std::uint64_t left = 0;               ///< bytes of removed contexts in files that others use
};

/// Removes all contexts but the newest `keep` (negative: none), and deletes segments that no context uses: those of
/// removed contexts and of runs that were killed. With `look` nothing is done. Throws Error(file), also where a run is
/// writing.
[[nodiscard]] Pruned prune(const std::string& directory, std::int64_t keep, bool look);

}  // namespace sidestream::database
