// File names that contain the iteration: "surface-{cycle:06}.vtp".
#pragma once

#include <string>

#include "sidestream/data/iteration.hpp"

namespace sidestream {

/// Replaces {index}, {cycle}, {time} and {server}, each with an optional width: leading zeros as in {index:05}, or
/// digits after the point for time as in {time:.4}. `{{` and `}}` stand for braces. Throws Error(configuration) that
/// names the field and the known ones.
[[nodiscard]] std::string expand_pattern(const std::string& pattern, const Iteration& iteration, int server);

/// True if files of different iterations get different names.
[[nodiscard]] bool names_iteration(const std::string& pattern);

/// True if the pattern contains `field`, for example "cycle".
[[nodiscard]] bool names_field(const std::string& pattern, const std::string& field);

/// The name that the files of a pattern have in common, without ending: "a/surface-{cycle:06}.vtp" gives "a/surface".
/// Directories that name the iteration are removed as well: "run/{cycle}/surface.vtp" gives "run/surface".
[[nodiscard]] std::string series_stem(const std::string& pattern);

/// Throws as expand_pattern would, and for a name without fields that contains a field of printf, such as `%05d`.
void check_pattern(const std::string& pattern);

}  // namespace sidestream
