// Loader of shared libraries with the user's own kinds.
#pragma once

#include <functional>
#include <string>

#include "sidestream/extend/registry.hpp"

namespace sidestream {

/// Registers the result of a C plug-in's entry point: the tables of analysis.h, which this layer does not know.
using CPluginReader = std::function<void(const void* header, Registry& registry)>;

/// Loads the library and lets it register its kinds. `path` without a '/' is searched in the working directory. `where`
/// is its place in the configuration. The library stays loaded until the process ends, since its kinds are used from
/// then on. Throws Error(configuration) if it cannot be loaded, is not a plug-in, or was built with headers of another
/// version. Its own exceptions are passed on, with the place prefixed. Without `c_plugin`, plug-ins in C are not
/// recognised.
void load_plugin(const std::string& path, const Location& where, Registry& registry,
                 const CPluginReader& c_plugin = {});

}  // namespace sidestream
