// The analyses of this module.
#pragma once

#include "sidestream/extend/analysis.hpp"

namespace sidestream {

[[nodiscard]] AnalysisKind halos_kind();
[[nodiscard]] AnalysisKind merge_tree_kind();
[[nodiscard]] AnalysisKind power_spectrum_kind();
[[nodiscard]] AnalysisKind particle_spectrum_kind();
[[nodiscard]] AnalysisKind lyman_alpha_kind();
[[nodiscard]] AnalysisKind deposit_kind();
[[nodiscard]] AnalysisKind subsample_kind();

}  // namespace sidestream
