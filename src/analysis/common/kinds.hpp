// One function for each analysis that comes with Sidestream.
#pragma once

#include "sidestream/extend/analysis.hpp"

namespace sidestream {

[[nodiscard]] AnalysisKind statistics_kind();
[[nodiscard]] AnalysisKind histogram_kind();
[[nodiscard]] AnalysisKind histogram2d_kind();
[[nodiscard]] AnalysisKind slice_kind();
[[nodiscard]] AnalysisKind isosurface_kind();
[[nodiscard]] AnalysisKind threshold_kind();
[[nodiscard]] AnalysisKind clip_kind();
[[nodiscard]] AnalysisKind render_kind();
[[nodiscard]] AnalysisKind projection_kind();
[[nodiscard]] AnalysisKind probe_kind();
[[nodiscard]] AnalysisKind deposit_kind();
[[nodiscard]] AnalysisKind subsample_kind();
[[nodiscard]] AnalysisKind resample_kind();
[[nodiscard]] AnalysisKind streamlines_kind();
[[nodiscard]] AnalysisKind python_kind();

}  // namespace sidestream
