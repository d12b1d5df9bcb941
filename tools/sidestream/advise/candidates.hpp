// Placements and splits among which advice is chosen.
#pragma once

#include <vector>

#include "advise/cost_model.hpp"

namespace sidestream {

/// All splits of `ranks` ranks on `nodes` nodes: `inline`, each number of dedicated cores and of ranks in `nodes`, the
/// same with groups, and `sidecar` and `job` if a run had them, whose servers count among the ranks. Throws
/// Error(usage) if the ranks cannot be spread evenly over the nodes.
[[nodiscard]] std::vector<Split> candidates(const CostModel& model, int ranks, int nodes);

/// The entry `placement` of the configuration, without what is the same in every placement: `{mode: cores, per_node:
/// 2}`.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> placement_options(const Split& split);

/// The same as text on one line.
[[nodiscard]] std::string placement_text(const Split& split);

}  // namespace sidestream
