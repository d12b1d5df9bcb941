// Isosurfaces in the cells of a three-dimensional grid, in two passes over rows of points.
//
// After Schroeder, Maynard and Geveci, "Flying edges: a high-performance scalable isocontouring algorithm" (2015). The
// first pass classifies each point as inside or outside and counts; the second one produces the counted vertices, each
// once, and triangles. Here the first pass leaves one bit per point, so that 64 edges are handled together, and
// vertices are numbered in the order of their keys. Triangles come from marching_cubes_cell.hpp.
#pragma once

#include "visualisation/contour/contour.hpp"
#include "visualisation/contour/row_normals.hpp"

namespace sidestream {

/// Gives the vertices and triangles of one value in one box of cells to `rows`; nothing if there are none. The request
/// has `view`, and no merge_at_points. Needs one bit of memory per point, and some bytes per point of a few planes.
void fly_edges(const ContourRequest& request, const Box& cells, double value, ContourRows& rows);

/// Cuts a box of cells into boxes for `fly_edges`, each with fewer vertices than an int32 can number.
[[nodiscard]] std::vector<Box> cut_for_flying(const Box& cells);

}  // namespace sidestream
