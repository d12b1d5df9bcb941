// Paths that stay valid when the program changes its working directory.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace sidestream {

/// The working directory at the moment in which a session opens; empty if it no longer exists.
[[nodiscard]] std::string working_directory();

/// `path` if it is absolute or empty, or if `folder` is empty; otherwise `path` relative to `folder`. Looks at no file
/// and keeps `..`: its target may be behind a link.
[[nodiscard]] std::string path_from(const std::string& folder, const std::string& path);

// Folders of this library and of the program that uses it: files that belong to them are looked up next to them.

/// The folder of the library or program that contains this code, and that of the program. The first is left out if it
/// is not known; the second may be empty.
[[nodiscard]] std::vector<std::filesystem::path> own_folders();

/// Places to look in: each of `relative` from each of own_folders() that is known, without `.` and `..`.
[[nodiscard]] std::vector<std::filesystem::path> places_from_own(std::span<const char* const> relative);

// Listing of folders. The standard library's iterators end the process where memory is short.

/// Names of all entries of `folder`, without `.` and `..`, in no order. Throws Error(system) if it cannot be read, and
/// std::bad_alloc.
[[nodiscard]] std::vector<std::string> names_in_folder(const std::string& folder);

}  // namespace sidestream
