// Loading shared libraries with kinds of the user's own.
#pragma once

#include <functional>
#include <string>

#include "sidestream/extend/registry.hpp"

namespace sidestream {

/// Registers what the entry point of a plug-in in C returned: the tables of analysis.h, which this layer does not know.
using CPluginReader = std::function<void(const void* header, Registry& registry)>;

/// Loads the library and lets it register its kinds. `path` without a '/' is looked for in the working
/// directory. `where` is its place in the configuration. The library stays loaded until the process ends,
/// because what it registered is used from then on. Throws Error(configuration) if it cannot be loaded, is no
/// plug-in, or was built with headers of another version; what it throws itself is passed on with the place
/// before it. Without `c_plugin` plug-ins in C are none.
void load_plugin(const std::string& path, const Location& where, Registry& registry,
                 const CPluginReader& c_plugin = {});

}  // namespace sidestream
