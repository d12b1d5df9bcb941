// Reads and checks a whole database.
#pragma once

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

}  // namespace sidestream::database
