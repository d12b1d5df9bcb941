// Halos in trees and in patches on refinement levels.
#pragma once

#include <memory>

#include "sidestream/extend/analysis.hpp"

namespace sidestream::halos {

/// Creates the analysis `halos` for a variable on such a mesh. Throws Error(configuration).
[[nodiscard]] std::unique_ptr<Task> level_halos(const Settings& settings, const Metadata& metadata);

}  // namespace sidestream::halos
