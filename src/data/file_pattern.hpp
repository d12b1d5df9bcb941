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

/// Whether `field` ("cycle", say) is in it.
[[nodiscard]] bool names_field(const std::string& pattern, const std::string& field);

/// The name that the files of a pattern have in common, without ending: "a/surface-{cycle:06}.vtp" gives
/// "a/surface". Directories that name the iteration are left as well: "run/{cycle}/surface.vtp" gives
/// "run/surface".
[[nodiscard]] std::string series_stem(const std::string& pattern);

/// Throws as expand_pattern would, and for a name without fields that has one of printf, such as `%05d`.
void check_pattern(const std::string& pattern);

}  // namespace sidestream
