// Writing parts of existing files, and copies of files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sidestream {

/// Writes `text` into an existing file. Throws Error(file).
void write_at(const std::string& path, std::uint64_t position, std::string_view text);
/// The same for an open file; messages name it by `path`.
void write_at(int descriptor, const std::string& path, std::uint64_t position, std::string_view text);

/// Copies a file's content to the name `to` and replaces an existing file. Throws Error(file).
void copy_file(const std::string& from, const std::string& to);

}  // namespace sidestream
