// What two clients have declared differently.
#pragma once

#include <string>

#include "client/declarations.hpp"

namespace sidestream {

/// The first thing in which what should be the same on every client is not, as the middle of a sentence, with both
/// values if they are numbers: "$h (0.1, here 0.10000000000000001)". Empty if nothing is found.
[[nodiscard]] std::string difference_of(const Declarations& mine, const Declarations& others);

}  // namespace sidestream
