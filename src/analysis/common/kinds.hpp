// The analyses of the library.
#pragma once

#include "sidestream/extend/registry.hpp"

namespace sidestream {

[[nodiscard]] AnalysisKind statistics_kind();
[[nodiscard]] AnalysisKind histogram_kind();
[[nodiscard]] AnalysisKind histogram2d_kind();
[[nodiscard]] AnalysisKind python_kind();

/// Registers all of them.
void register_analyses(Registry& registry);

}  // namespace sidestream
