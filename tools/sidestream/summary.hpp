// Summary of a checked configuration.
#pragma once

#include <string>

#include "check_options.hpp"

namespace sidestream {

/// `nodes`: assumed number of nodes of the ranks.
[[nodiscard]] std::string summary(const CheckOptions& options, const Config& config, const Registry& registry,
                                  int nodes);

}  // namespace sidestream
