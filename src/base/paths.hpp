// Paths that stay valid when the program changes its working directory; paths of this library.
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

/// The folders of the library (or program) that contains this code and of the program. An unknown first is left out;
/// the second may be empty.
[[nodiscard]] std::vector<std::filesystem::path> own_folders();

/// Places to search: each of `relative` from each known folder of own_folders(), without `.` and `..`. `{libraries}` at
/// the start stands for the path from the folder of installed programs to that of installed libraries.
[[nodiscard]] std::vector<std::filesystem::path> places_from_own(std::span<const char* const> relative);

// Listing of folders. The standard library's iterators end the process where memory is short.

/// Names of all entries of `folder`, without `.` and `..`, in no order. Throws Error(system) if it cannot be read, and
/// std::bad_alloc.
[[nodiscard]] std::vector<std::string> names_in_folder(const std::string& folder);

// The interpreter and the Python package that belong to this library and run its Python code.

/// The folder that contains the package `sidestream`, in a build, an installation or a Python package. Empty if there
/// is none; the interpreter may still have the package installed.
[[nodiscard]] std::string python_package_folder();

/// The first that exists: the interpreter in SIDESTREAM_PYTHON, in an active environment, of the build (the file
/// `interpreter` next to the package), "python3".
[[nodiscard]] std::string python_interpreter();

/// The value of PYTHONPATH with the package's folder in front.
[[nodiscard]] std::string python_path();

}  // namespace sidestream
