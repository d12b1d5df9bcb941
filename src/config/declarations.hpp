// Meshes and variables: those of the file joined with those declared by calls.
#pragma once

#include "config/options/document.hpp"
#include "config/options/read_settings.hpp"

namespace sidestream {

/// The file's meshes, then those of `declared` that the file does not have; likewise variables. Ids count
/// from 0. A name in both must mean the same. Throws Error(configuration).
[[nodiscard]] Metadata read_declarations(const Document& document, const ExpressionContext& expressions,
                                         const Metadata& declared);

}  // namespace sidestream
