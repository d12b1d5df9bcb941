// Meshes of two dimensions: contour lines in them (marching squares), and the planes that they are.
#pragma once

#include <span>
#include <vector>

#include "contour/contour.hpp"

namespace sidestream {

/// Adds to each of `pieces` the lines on which the number has the value of the same position. Points are named by the
/// edge that they lie on, as in three dimensions. Where two opposite corners of a cell are above the value and two
/// below, the upper ones are kept apart.
void contour_flat(const ContourRequest& request, std::span<const double> values, std::vector<Piece>& pieces);

/// All cells of a flat grid as two triangles each, with the attributes at their corners; `scalar` is not asked for
/// anything. Counter-clockwise seen from above the third axis, or with `reverse` from below.
[[nodiscard]] Piece all_cells(const ContourRequest& request);

}  // namespace sidestream
