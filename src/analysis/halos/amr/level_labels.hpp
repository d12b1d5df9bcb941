// The halo of each cell of a tree, or of patches on refinement levels.
#pragma once

#include <vector>

#include "analysis/halos/amr/level_history.hpp"
#include "analysis/halos/finder/labels.hpp"

namespace sidestream::halos {

/// Collective: writes a data set of lists with an entry for each cell that belongs to a halo: its `level`, its indices
/// on it as the mesh counts them (`i`, `j`, `k`), the number of its halo. In the order of levels, then of k, j, i: the
/// same however cells are divided among servers, each of which has about as many.
void write_level_labels(const LabelQuery& query, const AmrGrid& levels, const std::vector<KeptLevelCell>& cells,
                        const CombineInput& input);

}  // namespace sidestream::halos
