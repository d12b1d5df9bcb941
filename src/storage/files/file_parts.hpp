// Writing parts of files that are there, and copies of files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sidestream {

/// Writes `text` into a file that is there. Throws Error(file).
void write_at(const std::string& path, std::uint64_t position, std::string_view text);
/// The same into an open file, which `path` names for people.
void write_at(int descriptor, const std::string& path, std::uint64_t position, std::string_view text);

/// A copy of a file's content in place of what has the name `to`. Throws Error(file).
void copy_file(const std::string& from, const std::string& to);

}  // namespace sidestream
