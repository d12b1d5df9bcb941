// Net flux through the other faces of a cell: in a divergence-free field the difference of its low and high face.
#pragma once

#include "storage/trees/values/chunk_view.hpp"

namespace sidestream::trees {

/// Computes the fluxes of the cells [first, first + count): the length along the variable's axis times the sum over the
/// other axes, in their order, of (high face - low face) / length along that axis. The companions were checked.
void read_face_fluxes(const TreeChunk& chunk, const Relations& relations, std::size_t first, std::size_t count,
                      double* out);

}  // namespace sidestream::trees
