// A configuration with another placement.
#pragma once

#include <string>

#include "advise/cost_model.hpp"

namespace sidestream {

/// The text with the placement of `split`, an `output.directory` of its own (`results-cores-4`), and with the `group`
/// of each task if it has groups; everything else stays as it is, comments too. Of the old placement `buffer`,
/// `when_full`, `max_in_flight` and `session` stay where they have a meaning. Throws Error(usage) if the placement is
/// not an entry on lines of its own.
[[nodiscard]] std::string placed(const std::string& configuration, const std::string& file, const Split& split);

}  // namespace sidestream
