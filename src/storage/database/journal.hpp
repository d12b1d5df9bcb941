// The file of slots: which contexts there are.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "storage/database/layout.hpp"

namespace sidestream::database {

/// The file that whoever changes a database holds locked.
inline constexpr const char* lock_name = "writing.lock";

/// What the slots of a database say.
struct Journal {
  std::vector<Entry> contexts;       ///< those that are not removed, by slot
  std::vector<Entry> removed;        ///< those that are
  std::vector<std::string> remarks;  ///< a sentence for each slot that is passed over
  std::uint64_t slots = 0;           ///< with those that are not whole: where the next one is written
  std::uint32_t run = 0;             ///< the highest that any slot names
};

/// Whether a directory is a database.
[[nodiscard]] bool is_database(const std::string& directory);
/// Throws Error(file) if there is none, or it cannot be read.
[[nodiscard]] Journal read_journal(const std::string& directory);
/// The same of the bytes of the file.
[[nodiscard]] Journal parse_journal(BytesView bytes, const std::string& path);

/// Whether a context has been removed since: what a reader asks who does not find what the context had. Throws
/// Error(file).
[[nodiscard]] bool is_removed(const std::string& directory, std::uint64_t slot);

/// Creates a database in a directory that has none. Throws Error(file).
void create_journal(const std::string& directory, bool flush);

/// Writes one slot behind all others, whole or not at all as far as readers can tell. Throws Error(file).
void append_slot(const std::string& directory, std::uint64_t number, const Slot& slot, bool flush);

}  // namespace sidestream::database
