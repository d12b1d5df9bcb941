// Paths that stay what they are when the program changes its working directory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sidestream {

/// The working directory, for the moment in which a session opens; empty if it has gone.
[[nodiscard]] std::string working_directory();

/// `path` if it is absolute or empty, or if `folder` is empty; otherwise the path that begins in `folder`. No file is
/// looked at, and `..` stays: what it leads to may be behind a link.
[[nodiscard]] std::string path_from(const std::string& folder, const std::string& path);

// Where this library and the program that uses it lie: what belongs to them is looked for beside them.

/// The folder of the library or program that this code is in, and that of the program. One may be empty.
[[nodiscard]] std::vector<std::filesystem::path> own_folders();

// What lies in a folder. Instead of the standard library's iterators: those end the process where memory is short.

/// Names of all that lies in `folder`, without `.` and `..`, in no order. Throws Error(system) if it cannot be read,
/// and std::bad_alloc.
[[nodiscard]] std::vector<std::string> names_in_folder(const std::string& folder);

}  // namespace sidestream
