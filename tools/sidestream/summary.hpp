// What a checked configuration will do, for people.
#pragma once

#include <string>

#include "check_options.hpp"

namespace sidestream {

/// `nodes`: on how many nodes the ranks are thought to run.
[[nodiscard]] std::string summary(const CheckOptions& options, const Config& config, const Registry& registry,
                                  int nodes);

}  // namespace sidestream
