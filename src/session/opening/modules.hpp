// First steps of every process: the kinds of plug-ins and modules, and the text of the configuration. A configuration
// names plug-ins by path; modules are found by themselves. Clients compare their declarations.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "client/declarations.hpp"
#include "config/config.hpp"
#include "config/tasks/module_files.hpp"
#include "sidestream/extend/stream.hpp"

namespace sidestream {

/// Loads modules and adds the kinds that `registry` lacks; kinds of the program and of its plug-ins take precedence.
/// Throws Error(configuration) if a module was not built with this library.
void add_modules(const std::vector<std::string>& files, Registry& registry);

/// Loads the plug-ins of the configuration. Returns the modules if the configuration then still names a kind that
/// `registry` lacks, or takes requests; other runs do not look for modules. Call it while a session opens. Throws
/// Error(configuration).
[[nodiscard]] ModuleFiles load_plugins(const OpeningConfig& opening, const Document& document, const std::string& base,
                                       Registry& registry);

/// Adds the modules with kinds that the configuration names and `registry` still lacks after the program has registered
/// its own; all modules of Sidestream if the run takes requests. Leaves the added ones in `modules`. Throws
/// Error(configuration), also if a module is missing.
void add_needed_modules(ModuleFiles& modules, const Document& document, Registry& registry);

/// The name of streams between jobs, in the registry and as an output.
inline constexpr const char* stream_name = "stream";

/// Loads the module that has streams, unless `registry` has some. `user` needs them, "job" for example. Throws
/// Error(configuration), with the place of the placement, if the module is missing.
void load_streams(const char* user, const Document& document, const std::string& base, Registry& registry);

/// Adds the outputs of the registry's streams, unless it has them.
void add_stream_outputs(Registry& registry, const std::shared_ptr<StreamContext>& context);

/// Reads a file. Throws Error(configuration); `mend` ends its message, for example "correct the path".
[[nodiscard]] std::string read_configuration_file(const std::string& file, const std::string& mend);
/// The working directory of rank 0, the base of the relative paths of all ranks. Collective. Call it only while a
/// session opens, since the program may change the directory later.
[[nodiscard]] std::string common_folder(Communicator& world);
/// Registers the analyses, writers, formats and partitioners that come with Sidestream, without those of modules.
void register_built_in(Registry& registry);

/// Returns the first difference between two clients' declarations, or an empty text. It is the middle of a sentence,
/// with both values if they are numbers: "$h (0.1, here 0.10000000000000001)".
[[nodiscard]] std::string difference_of(const Declarations& mine, const Declarations& others);

}  // namespace sidestream
