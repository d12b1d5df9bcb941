// Typing errors in the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace sidestream {

/// What is wrong with the first word that names no command of `app`, or the first that looks like an option of a
/// command and is none, with a guess at what was meant; empty if there is no such word. The parser itself would answer
/// with what it expected next.
[[nodiscard]] std::string typing_error(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace sidestream
