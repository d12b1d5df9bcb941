// Projections of octrees.
#pragma once

#include "analysis/projection/column_sums.hpp"
#include "analysis/projection/projection_query.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream {

/// Adds what the leaves of a block's tree that count have along the axis. A leaf of the level of the result or of a
/// coarser one fills all places that it covers, a finer one counts with its part of one. `weight`: with a weight, its
/// view; otherwise null. Sides are halved exactly, so that the sums are those of the same values on a uniform grid.
void project_tree(const ProjectionQuery& query, const ProjectionGrid& grid, const LocalInput& input, const Mesh& mesh,
                  const BlockView& view, const BlockView* weight, ColumnSums& out);

}  // namespace sidestream
