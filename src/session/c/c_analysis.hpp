// Analyses written as a C table of functions.
#pragma once

#include "sidestream/analysis.h"
#include "sidestream/extend/registry.hpp"

namespace sidestream {

/// The kind that such a table describes; the table is copied, what it points at must stay. Throws Error(usage) if the
/// table is not complete.
[[nodiscard]] AnalysisKind kind_of(const sidestream_analysis& table);

/// Registers what a plug-in's sidestream_c_plugin() returned. Throws Error(usage).
void register_c_plugin(const void* header, Registry& registry);

}  // namespace sidestream
