// What files have, as a text for people.
#pragma once

#include <string>

#include "analyse/snapshot.hpp"

namespace sidestream::analysing {

/// A line for the iterations, of which there is one at least, one for each mesh, and one for each of its variables.
[[nodiscard]] std::string contents_of(const StoredIterations& iterations, const Metadata& metadata);

}  // namespace sidestream::analysing
