// Loading of kinds that the library lacks: plug-ins, which a configuration names by path, and modules, which are found
// without that.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace sidestream {

/// Modules: plug-ins that come with Sidestream, in files `sidestream_NAME.so` (modules/README.md).
struct ModuleFiles {
  std::vector<std::string> files;    ///< absolute, in the order of their names
  std::vector<std::string> folders;  ///< those searched, for messages
};

/// Finds the modules: in the folder SIDESTREAM_MODULES if the environment names one, otherwise in the first folder that
/// exists next to this library or program. `base`: where a relative name begins. To be called while a session opens.
/// Throws Error(configuration) if SIDESTREAM_MODULES names no folder.
[[nodiscard]] ModuleFiles find_modules(const std::string& base);

/// Loads modules and adds their kinds that `registry` lacks: those of the program and of its plug-ins take precedence.
/// Throws Error(configuration) if one was not built with this library.
void add_modules(const std::vector<std::string>& files, Registry& registry);

/// Loads the plug-ins of the configuration. Returns the modules if it then names a kind that `registry` lacks; a run
/// that needs none does not look for them. To be called while a session opens. Throws Error(configuration).
[[nodiscard]] ModuleFiles load_plugins(const OpeningConfig& opening, const Document& document, const std::string& base,
                                       Registry& registry);

/// Adds the modules if the configuration names a kind that `registry` still lacks, now that the program has registered
/// its own. Throws Error(configuration), also if the kind is of a module that is not there.
void add_needed_modules(const ModuleFiles& modules, const Document& document, Registry& registry);

/// A kind, the module that has it, and the build's option for that module.
struct ModuleKind {
  const char* kind;
  const char* module;
  const char* option;
};

/// The kinds of all modules of this version, built or not. Made by modules/CMakeLists.txt.
[[nodiscard]] std::span<const ModuleKind> module_kinds() noexcept;

}  // namespace sidestream
