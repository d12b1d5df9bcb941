// Selection of boxes for finer patches.
#pragma once

#include <vector>

#include "levels.hpp"

namespace advection {

/// Collective: boxes for the levels 1, 2, ... that contain all cells near which the density changes by more than
/// options.refine. They are nested so far inside the coarser level that the data for their ghosts exist. Ghosts of
/// patches must be filled. The same on every rank, and for any number of ranks. Empty levels end the list.
[[nodiscard]] std::vector<std::vector<Box>> find_boxes(MPI_Comm comm, const Options& options, const Geometry& geometry,
                                                       const std::vector<Level>& levels);

}  // namespace advection
