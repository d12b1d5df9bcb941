// Net flux through the other faces of a cell. In a divergence-free field this is the difference of the low and the high
// face.
#pragma once

#include "amr_codec/values/chunk_view.hpp"

namespace sidestream::trees {

/// Computes the fluxes of the cells [first, first + count). A flux is the length along the variable's axis times a sum
/// over the other axes, in their order. The sum's terms are (high face - low face) / (length along that axis). The
/// companions have been checked before.
void read_face_fluxes(const TreeChunk& chunk, const Relations& relations, std::size_t first, std::size_t count,
                      double* out);

}  // namespace sidestream::trees
