// All mistakes of a configuration, where its readers stop at the first.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/options/document.hpp"

namespace sidestream {

/// An error that says nothing of the file, found with what stands at a place of it.
struct MistakeAt {
  Location where;
  std::string message;
};

/// What `examine` throws (Error(configuration), MistakeAt), then what it throws of the document without the entry that
/// was at fault, and so on, in the order of places, at most 100. What only follows from an entry that was left out, an
/// option that is required or a name that it declares, is none. Mistakes without a place end the search, other errors
/// are thrown if they come first.
[[nodiscard]] std::vector<std::string> mistakes_of(const Document& document,
                                                   const std::function<void(const Document&)>& examine);

}  // namespace sidestream
