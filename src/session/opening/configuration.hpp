// The first steps of every process: the configuration's text, the kinds that come with Sidestream, and whether clients
// declare the same.
#pragma once

#include <string>

#include "base/mpi/communicator.hpp"
#include "client/declarations.hpp"
#include "config/config.hpp"

namespace sidestream {

/// Reads a file. Throws Error(configuration); `mend` ends its message, for example "correct the path".
[[nodiscard]] std::string read_configuration_file(const std::string& file, const std::string& mend);
/// Collective: the working directory of rank 0, the base of the relative paths of all ranks. Call only while a session
/// opens, since the program may change it later.
[[nodiscard]] std::string common_folder(Communicator& world);
/// Registers the analyses, writers, formats and partitioners that come with Sidestream, without streams.
void register_built_in(Registry& registry);

/// Returns the first difference between two clients' declarations, or an empty text. It is the middle of a sentence,
/// with both values if they are numbers: "$h (0.1, here 0.10000000000000001)".
[[nodiscard]] std::string difference_of(const Declarations& mine, const Declarations& others);

}  // namespace sidestream
