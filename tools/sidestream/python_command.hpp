// Commands written in Python, like the libraries that they use.
#pragma once

#include <string>
#include <vector>

namespace sidestream {

/// Replaces this process by `python -m sidestream COMMAND ARGUMENTS...`, with the package built along with this
/// program. Does not return if there is an interpreter; throws Error(system) if not. `packages`: the Python packages
/// that the command needs.
[[noreturn]] void become_python(const std::string& command, const std::vector<std::string>& arguments,
                                const std::string& packages);

}  // namespace sidestream
