// What the commands that read a configuration have in common.
#pragma once

#include <memory>
#include <string>

#include "check_options.hpp"
#include "config/options/document.hpp"
#include "sidestream/extend/registry.hpp"

namespace sidestream {

/// The text of a file; `what` names it in messages ("the configuration"). Throws Error(configuration).
[[nodiscard]] std::string read_text(const std::string& path, const char* what);

/// Everything that comes with Sidestream, what the plug-ins add, and stand-ins for the program's own functions.
[[nodiscard]] Registry all_kinds(const OpeningConfig& opening, const CheckOptions& options);

/// Puts sizes in place of `auto`, from what `placement.measured` says; `servers` on each of `nodes` nodes; 0: not
/// known, so that sizes stay `auto`. Throws Error(configuration) for a task that was not measured.
void settle_groups(Config& config, int servers, int nodes);

/// A folder for writers to be made with and not used.
[[nodiscard]] std::shared_ptr<const OutputDirectory> dry_directory(const std::string& root);

// The registry with everything that comes with Sidestream.

[[nodiscard]] Registry built_in_kinds();

}  // namespace sidestream
