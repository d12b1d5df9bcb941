// Slices on which each cell has its own value: of octrees and of meshes with axes, on all their refinement levels.
#pragma once

#include <vector>

#include "analysis/common/extract/extract.hpp"

namespace sidestream {

/// The blocks that have chosen cells which the plane may meet.
[[nodiscard]] Part cellwise_slice_part(const SliceQuery& query, const Mesh& mesh);

/// What the plane cuts of this server's blocks: of each cell that counts a polygon in triangles (of a mesh of two
/// dimensions a line), and with `edges` its outline in lines, in a piece of their own with the same points. Points are
/// no two cells'. Trees are walked from their roots down, and what the plane does not meet is not looked at.
[[nodiscard]] std::vector<Piece> extract_cellwise(const SliceQuery& query, const LocalInput& input);

}  // namespace sidestream
