// Search for all mistakes of a configuration, whose readers stop at the first.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/options/document.hpp"

namespace sidestream {

/// An error without a position in the file, with the position of its entry.
struct MistakeAt {
  Location where;
  std::string message;
};

/// Collects mistakes: the exception of `examine` (Error(configuration), MistakeAt), then that for the document without
/// the faulty entry, and so on, at most 100, sorted by position. Consequences of a removed entry (a missing required
/// option, an undeclared name) do not count. Mistakes without a position end the search; other errors are thrown if
/// they come first.
[[nodiscard]] std::vector<std::string> mistakes_of(const Document& document,
                                                   const std::function<void(const Document&)>& examine);

}  // namespace sidestream
