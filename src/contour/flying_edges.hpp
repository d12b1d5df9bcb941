// Isosurfaces in the cells of a grid of three dimensions, in two passes over rows of points.
//
// After Schroeder, Maynard and Geveci, "Flying edges: a high-performance scalable isocontouring algorithm" (2015): the
// first pass says of each point whether it is inside and counts, the second one makes what was counted, each vertex
// once. Here the first pass leaves one bit a point, so that 64 edges are looked at together, and vertices get their
// numbers in the order of their keys. Triangles come from case_table.hpp.
#pragma once

#include "contour/contour.hpp"
#include "contour/contour_rows.hpp"

namespace sidestream {

/// Hands the vertices and triangles of one value in one box of cells to `rows`; nothing if there are none. The request
/// has `view`, and no merge_at_points. Memory: a bit for each point, and of a few planes some bytes each.
void fly_edges(const ContourRequest& request, const Box& cells, double value, ContourRows& rows);

/// The largest box of cells that `fly_edges` takes has fewer vertices than an int32 can number; larger ones are cut.
[[nodiscard]] std::vector<Box> cut_for_flying(const Box& cells);

}  // namespace sidestream
