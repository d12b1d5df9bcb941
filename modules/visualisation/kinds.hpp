// One function for each analysis of the module.
#pragma once

#include "sidestream/extend/analysis.hpp"

namespace sidestream {

[[nodiscard]] AnalysisKind slice_kind();
[[nodiscard]] AnalysisKind isosurface_kind();
[[nodiscard]] AnalysisKind threshold_kind();
[[nodiscard]] AnalysisKind clip_kind();
[[nodiscard]] AnalysisKind render_kind();
[[nodiscard]] AnalysisKind projection_kind();
[[nodiscard]] AnalysisKind probe_kind();
[[nodiscard]] AnalysisKind relevance_kind();
[[nodiscard]] AnalysisKind resample_kind();
[[nodiscard]] AnalysisKind streamlines_kind();

}  // namespace sidestream
