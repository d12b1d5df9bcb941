// Giving a file new content in one step.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// Lets `put` write a temporary file, whose path it gets, and gives that the name `path`. If anything throws,
/// `path` is as it was and the temporary file is gone.
void replace_file(const OutputDirectory& directory, const std::string& path,
                  const std::function<void(const std::string& temporary)>& put);

/// Writes a text as the whole of a file, without flushing it. Throws Error(file).
void write_file(const std::string& path, std::string_view text);

/// replace_file for a text.
void replace_file(const OutputDirectory& directory, const std::string& path, std::string_view text);

/// The same for a file anywhere, which need not last beyond a loss of power: of a run's records.
void replace_file(const std::string& path, std::string_view text);

}  // namespace sidestream
