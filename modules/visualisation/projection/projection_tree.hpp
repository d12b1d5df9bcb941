// Projections of octrees.
#pragma once

#include "sidestream/extend/analysis.hpp"
#include "visualisation/projection/column_sums.hpp"
#include "visualisation/projection/projection_query.hpp"

namespace sidestream {

/// Adds the counted leaves of a block's tree to their columns. A leaf of the level of the result, or of a coarser one,
/// fills all places that it covers; a finer one counts with its fraction of a place. `weight`: the weight's view; null
/// without a weight. Sides are halved exactly, so the sums equal those of the same values on a uniform grid.
void project_tree(const ProjectionQuery& query, const ProjectionGrid& grid, const LocalInput& input, const Mesh& mesh,
                  const BlockView& view, const BlockView* weight, ColumnSums& out);

}  // namespace sidestream
