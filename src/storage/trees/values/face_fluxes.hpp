// What goes through the other faces of a cell, by which a field without divergence has its low and its high face apart.
#pragma once

#include "storage/trees/values/chunk_view.hpp"

namespace sidestream::trees {

/// Of cells [first, first + count): length along the variable's axis times the sum over the other axes, in their order,
/// of (high face - low face) / length along that axis. The companions have been checked.
void read_face_fluxes(const TreeChunk& chunk, const Relations& relations, std::size_t first, std::size_t count,
                      double* out);

}  // namespace sidestream::trees
