// Loading of kinds that the library lacks: plug-ins, which a configuration names by path, and modules, which are found
// without that.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace sidestream {

/// Files of the modules next to this library or program, in the order of their names. If the environment variable
/// SIDESTREAM_MODULES names a folder, only that one is searched. A module is a plug-in that comes with Sidestream
/// (modules/README.md), in a file `modules/sidestream_NAME.so`.
[[nodiscard]] std::vector<std::string> module_files();

/// Loads all modules. Throws Error(configuration), with the module's path, if one was not built with this library.
void load_modules(Registry& registry);

/// The name of an analysis, and its place in the configuration.
struct NamedAnalysis {
  std::string name;
  Location where;
};

/// The analyses that the configuration names, in its order, without any check.
[[nodiscard]] std::vector<NamedAnalysis> named_analyses(const Document& document);

/// Loads the plug-ins of the configuration. If a name in `names` is unknown then, loads all modules; other runs do not
/// read their files. Throws Error(configuration), also for an analysis whose module is missing.
void load_extensions(const OpeningConfig& opening, const std::vector<NamedAnalysis>& names, Registry& registry);

}  // namespace sidestream
