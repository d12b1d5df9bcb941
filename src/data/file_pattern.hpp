// File names with the iteration in them: "surface-{cycle:06}.vtp".
#pragma once

#include <string>

#include "sidestream/data/iteration.hpp"

namespace sidestream {

/// Replaces {index}, {cycle}, {time} and {server}, each with an optional width as in {index:05} (zeros in front; for
/// time digits after the point, as in {time:.4}). `{{` and `}}` stand for braces. Throws Error(configuration) naming
/// the field and the known ones.
[[nodiscard]] std::string expand_pattern(const std::string& pattern, const Iteration& iteration, int server);

/// Whether files of different iterations get different names.
[[nodiscard]] bool names_iteration(const std::string& pattern);

/// Throws as expand_pattern would.
void check_pattern(const std::string& pattern);

}  // namespace sidestream
