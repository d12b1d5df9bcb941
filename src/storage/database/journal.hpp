// The file of slots, which lists the contexts, and the choice among them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/database/layout.hpp"

namespace sidestream::database {

/// The file that a process locks while it changes the database.
inline constexpr const char* lock_name = "writing.lock";

/// The content of the slots of a database.
struct Journal {
  std::vector<Entry> contexts;       ///< contexts that are not removed, by slot
  std::vector<Entry> removed;        ///< removed contexts
  std::vector<std::string> remarks;  ///< a sentence for each skipped slot
  std::uint64_t slots = 0;           ///< number of slots, incomplete ones included: place of the next one
  std::uint32_t run = 0;             ///< highest run number in any slot
};

/// True if a directory is a database.
[[nodiscard]] bool is_database(const std::string& directory);
/// Reads the journal. Throws Error(file) if there is none, or it cannot be read.
[[nodiscard]] Journal read_journal(const std::string& directory);
/// Parses the bytes of a journal.
[[nodiscard]] Journal parse_journal(BytesView bytes, const std::string& path);

/// True if a context has been removed since. A reader asks this if it does not find the context's bytes. Throws
/// Error(file).
[[nodiscard]] bool is_removed(const std::string& directory, std::uint64_t slot);

/// Creates a database in a directory that has none. Throws Error(file).
void create_journal(const std::string& directory, bool flush);

/// Appends one slot. Readers find it whole or not at all. Throws Error(file).
void append_slot(const std::string& directory, std::uint64_t number, const Slot& slot, bool flush);

/// Selects a context.
struct Wanted {
  std::optional<std::int64_t> cycle;  ///< context of this cycle; the one written last if there are several
  std::optional<Kind> kind;
};

/// The matching entries, the newest first. Throws Error(file) if there is none.
[[nodiscard]] std::vector<Entry> candidates(const Journal& journal, const Wanted& wanted, const std::string& directory);

/// `cycle 40 (run 1, iteration 4, time 0.4)`
[[nodiscard]] std::string name_of(const Entry& entry);
[[nodiscard]] std::string_view name_of(Kind kind) noexcept;

}  // namespace sidestream::database
