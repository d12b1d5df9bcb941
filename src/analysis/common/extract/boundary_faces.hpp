// What is seen of cells: their faces but for those between two of them.
#pragma once

#include "analysis/common/extract/part_query.hpp"
#include "contour/contour.hpp"

namespace sidestream {

/// The faces of the cells of three dimensions that no second cell has, neither in the block nor around it, those of two
/// dimensions, and lines, with points and normals of their own. Faces are cut into triangles from their least point, so
/// that cells of different types agree. Data: attribute `attribute` of the layout, of cells the same all over a face.
[[nodiscard]] Piece boundary_faces(const BlockPart& part, bool in_cells, std::size_t attribute);

}  // namespace sidestream
