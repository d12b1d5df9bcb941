// Commands that are written in Python, as the libraries are that they use.
#pragma once

#include <string>
#include <vector>

namespace sidestream {

/// Becomes `python -m sidestream COMMAND ARGUMENTS...`, with the package that was built along with this program: does
/// not return if there is an interpreter. Throws Error(system) if there is none; `packages`: those that it needs.
[[noreturn]] void become_python(const std::string& command, const std::vector<std::string>& arguments,
                                const std::string& packages);

}  // namespace sidestream
