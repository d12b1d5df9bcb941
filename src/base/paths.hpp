// Paths that stay what they are when the program changes its working directory.
#pragma once

#include <string>

namespace sidestream {

/// The working directory, for the moment in which a session opens; empty if it has gone.
[[nodiscard]] std::string working_directory();

/// `path` if it is absolute or empty, or if `folder` is empty; otherwise the path that begins in `folder`. No file is
/// looked at, and `..` stays: what it leads to may be behind a link.
[[nodiscard]] std::string path_from(const std::string& folder, const std::string& path);

}  // namespace sidestream
