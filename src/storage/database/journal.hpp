// The file of slots, which lists the contexts, and the choice of one of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/database/layout.hpp"

namespace sidestream::database {

/// The file that is locked by a process that changes the database.
inline constexpr const char* lock_name = "writing.lock";

/// The content of the slots of a database.
struct Journal {
  std::vector<Entry> contexts;       ///< those that are not removed, by slot
  std::vector<Entry> removed;        ///< those that are
  std::vector<std::string> remarks;  ///< a sentence for each slot that is passed over
  std::uint64_t slots = 0;           ///< with those that are not whole: where the next one is written
  std::uint32_t run = 0;             ///< the highest that any slot names
};

/// True if a directory is a database.
[[nodiscard]] bool is_database(const std::string& directory);
/// Reads the journal. Throws Error(file) if there is none, or it cannot be read.
[[nodiscard]] Journal read_journal(const std::string& directory);
/// The same for the bytes of the file.
[[nodiscard]] Journal parse_journal(BytesView bytes, const std::string& path);

/// True if a context has been removed meanwhile. A reader asks this if it does not find the context's bytes. Throws
/// Error(file).
[[nodiscard]] bool is_removed(const std::string& directory, std::uint64_t slot);

/// Creates a database in a directory that has none. Throws Error(file).
void create_journal(const std::string& directory, bool flush);

/// Appends one slot. Readers find it whole or not at all. Throws Error(file).
void append_slot(const std::string& directory, std::uint64_t number, const Slot& slot, bool flush);

/// Selects a context.
struct Wanted {
  std::optional<std::int64_t> cycle;  ///< of this cycle; the one written last, if several are
  std::optional<Kind> kind;
};

/// The entries that fit, the newest first. Throws Error(file) if there is none.
[[nodiscard]] std::vector<Entry> candidates(const Journal& journal, const Wanted& wanted, const std::string& directory);

/// `cycle 40 (run 1, iteration 4, time 0.4)`
[[nodiscard]] std::string name_of(const Entry& entry);
[[nodiscard]] std::string_view name_of(Kind kind) noexcept;

}  // namespace sidestream::database
