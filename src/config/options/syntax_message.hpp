// What the YAML parser's messages mean, in our words.
#pragma once

#include <string>

namespace sidestream {

/// What was found, what was expected and what to do, for a message of yaml-cpp. A message that is not known
/// is passed on inside such a sentence.
[[nodiscard]] std::string syntax_message(const std::string& yaml_message);

}  // namespace sidestream
