// Where finer patches have to be.
#pragma once

#include <vector>

#include "levels.hpp"

namespace advection {

/// Collective: boxes for the levels 1, 2, ... that hold all cells near which the density changes by more than
/// options.refine, and are so far inside of the coarser level's that what their ghosts need is there. Cells round
/// patches must be filled. The same on every rank, and on any number of them. Levels with nothing in them end the list.
[[nodiscard]] std::vector<std::vector<Box>> find_boxes(MPI_Comm comm, const Options& options, const Geometry& geometry,
                                                       const std::vector<Level>& levels);

}  // namespace advection
