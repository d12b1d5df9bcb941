// Whether `placement.buffer` holds an iteration, as far as that is known without a run.
#pragma once

#include "config/config.hpp"

namespace sidestream {

/// Throws Error(configuration), at the placement entry, if the buffer of a node is smaller than an iteration of its
/// clients, whatever blocks they have: the sizes of meshes are known, and some node has at least the average. Says the
/// least buffer that would do if every client had one block of equal size without ghosts. Variables on meshes without a
/// size (points, lists of cells) do not count. `ranks` on `nodes` as for check_split.
void check_buffer(const Config& config, int ranks, int nodes);

}  // namespace sidestream
