// Reads and checks a whole database (`sidestream verify`), and removes contexts by hand (`sidestream prune`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inspection/unnamed.hpp"
#include "storage/database/journal.hpp"

namespace sidestream::database {

struct InspectedContext {
  Entry entry;
  std::vector<std::string> damages;  ///< a sentence each; empty: the database is whole
  bool removed = false;              ///< true if a concurrent run removed the context
};

struct Inspection {
  std::vector<InspectedContext> contexts;
  std::vector<std::string> remarks;  ///< skipped slots, a sentence each
  bool is_written = false;  ///< true if a run is writing: unnamed files may still get a slot, so none are listed
  Unnamed unnamed;
};

/// Reads every byte of all contexts. Throws Error(file) if there is no database.
[[nodiscard]] Inspection inspect(const std::string& directory);

struct PruneOptions {
  std::int64_t keep = -1;  ///< number of newest contexts to keep; negative: remove none
  bool dry_run = false;    ///< changes nothing
  bool lost = false;       ///< also deletes files of whole contexts that no slot names
};

struct Pruned {
  std::vector<std::uint64_t> contexts;  ///< slots that were removed
  std::vector<std::string> files;       ///< deleted files, or files that would be deleted
  std::vector<std::string> kept;        ///< files of whole contexts that no slot names
  std::vector<std::string> lost;        ///< a sentence for each sign of such contexts
  std::uint64_t bytes = 0;              ///< size of the deleted files
  std::uint64_t left = 0;               ///< bytes of removed contexts in files that others use
};

/// Removes contexts, and deletes files that no context uses, of removed contexts and of killed runs. Touches only files
/// with names of a database. Throws Error(file), also while a run is writing.
[[nodiscard]] Pruned prune(const std::string& directory, const PruneOptions& options);

}  // namespace sidestream::database
