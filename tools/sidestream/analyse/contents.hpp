// Summary of the content of files.
#pragma once

#include <string>

#include "analyse/snapshot.hpp"

namespace sidestream::analysing {

/// One line for the iterations (at least one), one for each mesh, and one for each of its variables.
[[nodiscard]] std::string contents_of(const StoredIterations& iterations, const Metadata& metadata);

}  // namespace sidestream::analysing
