// Checks of an analysis' selection.
#pragma once

#include "sidestream/data/metadata.hpp"
#include "sidestream/data/selection.hpp"

namespace sidestream {

/// Throws Error(usage) if the selection names variables or components that do not exist. Throws Error(configuration) if
/// it asks for values around blocks that are lists, or for pieces that the mesh cannot have.
void check_selection(const Selection& selection, const Metadata& metadata);

}  // namespace sidestream
