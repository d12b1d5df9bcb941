// Finds contexts.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "storage/database/context.hpp"
#include "storage/database/journal.hpp"

namespace sidestream::database {

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
