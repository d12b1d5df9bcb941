// What every process reads before it is anything: the configuration's text and the kinds that come with Sidestream.
#pragma once

#include <string>

#include "base/mpi/communicator.hpp"
#include "config/config.hpp"

namespace sidestream {

/// The text of a file. Throws Error(configuration); `mend` ends the sentence: "correct the path".
[[nodiscard]] std::string read_configuration_file(const std::string& file, const std::string& mend);
/// Collective: the working directory of rank 0, in which the relative paths of all ranks begin. To be called while a
/// session opens, and then never again: the program may change it.
[[nodiscard]] std::string common_folder(Communicator& world);
/// Analyses, writers, formats and partitioners that come with Sidestream, without streams.
void register_built_in(Registry& registry);

}  // namespace sidestream
