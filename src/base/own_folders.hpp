// Where this library and the program that uses it lie: what belongs to them is looked for beside them.
#pragma once

#include <filesystem>
#include <vector>

namespace sidestream {

/// The folder of the library or program that this code is in, and that of the program. One may be empty.
[[nodiscard]] std::vector<std::filesystem::path> own_folders();

}  // namespace sidestream
