// Loading of kinds that the library lacks: plug-ins, which a configuration names by path, and modules, which are found
// without that.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/tasks/module_files.hpp"

namespace sidestream {

/// Loads modules and adds their kinds that `registry` lacks: those of the program and of its plug-ins take precedence.
/// Throws Error(configuration) if one was not built with this library.
void add_modules(const std::vector<std::string>& files, Registry& registry);

/// Loads the plug-ins of the configuration. Returns the modules if it then names a kind that `registry` lacks, or takes
/// requests; other runs do not look for them. To be called while a session opens. Throws Error(configuration).
[[nodiscard]] ModuleFiles load_plugins(const OpeningConfig& opening, const Document& document, const std::string& base,
                                       Registry& registry);

/// Adds the modules with kinds that the configuration names and `registry` still lacks, now that the program has
/// registered its own; all modules of Sidestream if it takes requests. Leaves those in `modules`. Throws
/// Error(configuration), also if a module is not there.
void add_needed_modules(ModuleFiles& modules, const Document& document, Registry& registry);

}  // namespace sidestream
