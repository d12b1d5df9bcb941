// Meshes whose first cell is not (0, 0, 0), as those of plotfiles may be.
#pragma once

#include <memory>

#include "analyse/snapshot.hpp"

namespace sidestream::analysing {

/// The same with all cells counted from (0, 0, 0), as a program declares them: the snapshot itself where that is so.
[[nodiscard]] std::unique_ptr<Snapshot> counted_from_zero(std::unique_ptr<Snapshot> snapshot);

}  // namespace sidestream::analysing
