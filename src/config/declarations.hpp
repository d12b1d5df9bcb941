// Meshes and variables: those of the file joined with those declared by calls.
#pragma once

#include "config/options/document.hpp"
#include "config/options/read_settings.hpp"

namespace sidestream {

/// The file's meshes, then those of `declared` that the file lacks; likewise for variables. Ids count from 0. Both
/// declarations of a name must agree. Throws Error(configuration).
[[nodiscard]] Metadata read_declarations(const Document& document, const ExpressionContext& expressions,
                                         const Metadata& declared);

}  // namespace sidestream
