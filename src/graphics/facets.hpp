// Surfaces without normals, lit all the same.
#pragma once

#include "contour/contour.hpp"

namespace sidestream::rendering {

/// The triangles of a piece with points of their own and the normal of each triangle at its points; those without an
/// area are left out. Lines are not taken over.
[[nodiscard]] Piece facets(const Piece& piece);

}  // namespace sidestream::rendering
