// Kinds that a configuration adds to those of the library: plug-ins by path, and modules, which are found by
// themselves.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace sidestream {

/// Files of the modules next to this library or program, in the order of their names; of the folder SIDESTREAM_MODULES,
/// if the environment names one. A module is a plug-in that comes with Sidestream (modules/README.md), in a file
/// `modules/sidestream_NAME.so`.
[[nodiscard]] std::vector<std::string> module_files();

/// Loads all modules. Throws Error(configuration), with the module's path, if one was not built with this library.
void load_modules(Registry& registry);

/// The name of an analysis, and its place in the configuration.
struct NamedAnalysis {
  std::string name;
  Location where;
};

/// The analyses that the configuration asks for, in its order; nothing of them is checked.
[[nodiscard]] std::vector<NamedAnalysis> named_analyses(const Document& document);

/// Loads the plug-ins of the configuration. If one of `names` is then in no registry, loads all modules: a run that
/// needs none reads no file of them. Throws Error(configuration), also if one is of a module that is not there.
void load_extensions(const OpeningConfig& opening, const std::vector<NamedAnalysis>& names, Registry& registry);

}  // namespace sidestream
