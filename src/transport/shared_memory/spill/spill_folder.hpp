// Files that clients spill into: their names, their owners, and the removal of those that dead runs left.
#pragma once

#include <cstdint>
#include <string>

#include "base/files.hpp"

namespace sidestream::shared_memory {

/// A new file with a unique name in `directory`, for this process and its children only. It is locked as long as one of
/// them has it open, so that others know that it is in use. Throws Error(system) with the path.
struct OwnedFile {
  Descriptor descriptor;
  std::string path;
};
[[nodiscard]] OwnedFile create_spill_file(const std::string& directory);

/// Removes files of this user in `directory` whose processes have ended, and names them in a warning. Also warns if the
/// directory is in memory. Throws Error(system) if the directory can be neither made nor read.
void prepare_spill_folder(const std::string& directory);

}  // namespace sidestream::shared_memory
