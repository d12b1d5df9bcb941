// Detection of typing errors in the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace sidestream {

/// Describes the first word that is not a command of `app`, or the first unknown option of a command, with a
/// suggestion; empty if there is none. The parser itself would report what it expected next.
[[nodiscard]] std::string typing_error(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace sidestream
