// Captions of pictures and charts: patterns with fields.
#pragma once

#include <string>

#include "sidestream/data/iteration.hpp"

namespace sidestream::rendering {

/// Fills {label}, {index}, {cycle} and {time} into the pattern; formats as in {time:.3f}. Throws Error(configuration).
[[nodiscard]] std::string expand_caption(const std::string& pattern, const std::string& label,
                                         const Iteration& iteration);

}  // namespace sidestream::rendering
