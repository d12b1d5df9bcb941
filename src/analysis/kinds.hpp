// One function for each analysis that comes with Sidestream.
#pragma once

#include "sidestream/extend/analysis.hpp"

namespace sidestream {

[[nodiscard]] AnalysisKind statistics_kind();
[[nodiscard]] AnalysisKind histogram_kind();
[[nodiscard]] AnalysisKind slice_kind();
[[nodiscard]] AnalysisKind isosurface_kind();
[[nodiscard]] AnalysisKind render_kind();

}  // namespace sidestream
