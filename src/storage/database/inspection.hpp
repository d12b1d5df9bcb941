// Reads and checks a whole database (`sidestream verify`), and removes contexts by hand (`sidestream prune`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/database/journal.hpp"
#include "storage/database/unnamed.hpp"

namespace sidestream::database {

struct InspectedContext {
  Entry entry;
  std::vector<std::string> damages;  ///< a sentence each; empty: it is whole
  bool removed = false;              ///< by a run that writes at the same time
};

struct Inspection {
  std::vector<InspectedContext> contexts;
  std::vector<std::string> remarks;  ///< slots that are passed over
  bool is_written = false;  ///< by a run, at the same time: files without a slot may get one, and none are named
  Unnamed unnamed;
};

/// Reads every byte of all contexts. Throws Error(file) if there is no database.
[[nodiscard]] Inspection inspect(const std::string& directory);

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
