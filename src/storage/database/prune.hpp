// Removes contexts by hand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sidestream::database {

struct PruneOptions {
  std::int64_t keep = -1;  ///< removes all contexts but the newest so many; negative: none
  bool look = false;       ///< changes nothing
  bool lost = false;       ///< deletes files of whole contexts too that no slot names
};

struct Pruned {
  std::vector<std::uint64_t> contexts;  ///< slots that were removed
  std::vector<std::string> files;       ///< that were deleted, or would be
  std::vector<std::string> kept;        ///< files of whole contexts that no slot names
  std::vector<std::string> lost;        ///< a sentence for each sign of these
  std::uint64_t bytes = 0;              ///< that the deleted files have
  std::uint64_t left = 0;               ///< bytes of removed contexts in files that others use
};

/// Removes contexts, and deletes files that no context uses: those of removed contexts and of killed runs. Only files
/// with names that the database gives are touched. Throws Error(file), also while a run is
/// writing.
[[nodiscard]] Pruned prune(const std::string& directory, const PruneOptions& options);

}  // namespace sidestream::database
