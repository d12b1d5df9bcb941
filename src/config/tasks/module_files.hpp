// Files with kinds that the library lacks: Sidestream's own modules, and plug-ins of users.
//
// Both are shared libraries that register their kinds. Modules come with Sidestream and are found without
// configuration.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sidestream/extend/registry.hpp"

namespace sidestream {

/// Modules: plug-ins that come with Sidestream, in files `sidestream_NAME.so` (modules/README.md).
struct ModuleFiles {
  std::vector<std::string> files;    ///< absolute, in the order of their names
  std::vector<std::string> folders;  ///< those searched, for messages
};

/// Finds the modules: in the folder SIDESTREAM_MODULES if the environment names one, otherwise in the first folder that
/// exists next to this library or program. `base`: where a relative name begins. Throws Error(configuration) if
/// SIDESTREAM_MODULES names no folder.
[[nodiscard]] ModuleFiles find_modules(const std::string& base);

enum class KindOf { task, codec };

/// A kind, the module that has it, and the build's option for that module.
struct ModuleKind {
  KindOf of;
  const char* kind;
  const char* module;
  const char* option;
};

/// The kinds of all modules of this version, built or not. Made by modules/CMakeLists.txt.
[[nodiscard]] std::span<const ModuleKind> module_kinds() noexcept;

/// The entry of a kind that a module has, or null.
[[nodiscard]] const ModuleKind* module_with(KindOf of, const std::string& kind) noexcept;

/// True if `file` is the module that has the kind.
[[nodiscard]] bool is_module_of(const std::string& file, const ModuleKind& kind);

/// A sentence for a kind whose module is in none of the folders, or was not loaded.
[[nodiscard]] std::string missing_module(const ModuleKind& kind, const std::vector<std::string>& folders = {});

/// Adds the codec `name` to `kinds` if it lacks it and a module has it: loads that module only. `base` as above.
/// Returns an empty text, or a sentence about the module that is not there. Throws Error(configuration) if the module
/// was not built with this library.
[[nodiscard]] std::string add_codec_of_module(const std::string& name, const std::string& base, CodecKinds& kinds);

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
