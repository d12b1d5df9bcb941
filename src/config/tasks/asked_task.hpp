// Analyses that people ask a running session for.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace sidestream {

struct AskedTask {
  TaskConfig config;
  bool once = true;  ///< false if it says how often it runs
};

/// Reads `text`, an entry of `analyses:` on one line, for a session that runs `config`. `name` becomes its name, and
/// `others` were asked for before. All of its files must be in the folder `asked`, so that it replaces nothing of the
/// run. Throws Error(configuration).
[[nodiscard]] AskedTask read_asked_task(const std::string& text, const std::string& name,
                                        const std::vector<TaskConfig>& others, const Config& config,
                                        const Registry& registry);

/// The kinds of analyses that can be asked for.
[[nodiscard]] std::vector<std::string> kinds_to_ask_for(const Registry& registry);

}  // namespace sidestream
