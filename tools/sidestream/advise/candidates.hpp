// Placements and splits among which advice is chosen.
#pragma once

#include <vector>

#include "advise/cost_model.hpp"

namespace sidestream {

/// Splits of `ranks` ranks on `nodes` nodes: `inline`, numbers of dedicated cores and of ranks in `nodes`, the same
/// with groups (all numbers of up to 64 ranks, steps of a sixteenth of more), and `sidecar` if a run had it, whose
/// servers count among the ranks. Throws Error(usage) if the ranks cannot be spread evenly over the nodes.
[[nodiscard]] std::vector<Split> candidates(const CostModel& model, int ranks, int nodes);

/// Options of the entry `placement` that say the split, such as `mode: cores` and `per_node: 2`.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> placement_options(const Split& split);

/// The same as text on one line.
[[nodiscard]] std::string placement_text(const Split& split);

}  // namespace sidestream
