// What every process reads before it is anything: the configuration's text and the kinds that come with Sidestream.
#pragma once

#include <string>

#include "base/communicator.hpp"
#include "config/config.hpp"

namespace sidestream {

/// The text of a file. Throws Error(configuration); `mend` ends the sentence: "correct the path".
[[nodiscard]] std::string read_configuration_file(const std::string& file, const std::string& mend);
/// Analyses, writers, formats and partitioners that come with Sidestream, without streams.
void register_built_in(Registry& registry);

}  // namespace sidestream
