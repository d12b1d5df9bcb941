// Analyses written as a C table of functions.
#pragma once

#include "sidestream/analysis.h"
#include "sidestream/extend/registry.hpp"

namespace sidestream {

/// The kind that such a table describes. The table is copied; the objects it points to must outlive the kind. Throws
/// Error(usage) if the table is incomplete.
[[nodiscard]] AnalysisKind kind_of(const sidestream_analysis& table);

/// Registers the result of a plug-in's sidestream_c_plugin(). Throws Error(usage).
void register_c_plugin(const void* header, Registry& registry);

}  // namespace sidestream
