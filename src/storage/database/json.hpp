// Reading JSON that may have been damaged, or made up.
#pragma once

#include <string>
#include <string_view>

#include "config/options/document.hpp"

namespace sidestream::database {

/// The tree of a JSON text; numbers and truths are scalars without quotes. A parser of its own, since one for YAML also
/// knows references, with which a few bytes become as many nodes as one likes, and nests as deep as the text says.
/// Memory is proportional to the text. Throws Error(file) with the byte at which it makes no sense.
[[nodiscard]] Node parse_json(std::string_view text);

}  // namespace sidestream::database
