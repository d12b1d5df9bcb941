// Differences between the declarations of two clients.
#pragma once

#include <string>

#include "client/declarations.hpp"

namespace sidestream {

/// Returns the first difference between two clients' declarations, or an empty text. It is the middle of a sentence,
/// with both values if they are numbers: "$h (0.1, here 0.10000000000000001)".
[[nodiscard]] std::string difference_of(const Declarations& mine, const Declarations& others);

}  // namespace sidestream
