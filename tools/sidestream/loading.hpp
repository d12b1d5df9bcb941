// Helpers of commands that read a configuration.
#pragma once

#include <memory>
#include <string>

#include "check_options.hpp"
#include "config/options/document.hpp"
#include "sidestream/extend/registry.hpp"

namespace sidestream {

/// Reads a file; `what` names it in messages ("the configuration"). Throws Error(configuration).
[[nodiscard]] std::string read_text(const std::string& path, const char* what);

/// All built-in kinds, kinds of plug-ins and modules, and stand-ins for the program's own functions.
[[nodiscard]] Registry all_kinds(const OpeningConfig& opening, const Document& document, const CheckOptions& options);

/// Replaces sizes that are `auto`, using `placement.measured`. `servers`: number on each of `nodes` nodes; 0: unknown,
/// so that sizes stay `auto`. Throws Error(configuration) for a task that was not measured.
void settle_groups(Config& config, int servers, int nodes);

/// A folder for writers that are created but not used.
[[nodiscard]] std::shared_ptr<const OutputDirectory> null_directory(const std::string& root);

/// The registry with all built-in kinds, without modules.
[[nodiscard]] Registry built_in_kinds();
/// The same, with the kinds of modules. A module that cannot be loaded is a warning.
[[nodiscard]] Registry kinds_with_modules();

}  // namespace sidestream
