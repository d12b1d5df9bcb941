// Adapter for meshes whose first cell is not (0, 0, 0), which plotfiles may have.
#pragma once

#include <memory>

#include "analyse/snapshot.hpp"

namespace sidestream::analysing {

/// Returns the snapshot with all cells counted from (0, 0, 0), as programs declare them; the snapshot itself if that
/// holds.
[[nodiscard]] std::unique_ptr<Snapshot> counted_from_zero(std::unique_ptr<Snapshot> snapshot);

}  // namespace sidestream::analysing
